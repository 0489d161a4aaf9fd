"""POST /v2/sweep/status/:id/confirm with what a wallet says about a batch of calls (EIP-5792)."""

import json
import time
import tracemalloc
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from sweepapi.api.input.budgets import LARGEST_BODY_BYTES
from sweepapi.errors import InvalidRequest
from sweeps.models import SweepTransaction
from sweeps.story.confirm import MAX_CANDIDATES
from sweeps.views.serializers import calls_status as decoder
from sweeps.views.serializers.calls_status import MAX_RECEIPTS
from sweeps.views.serializers.confirming import MAX_HASHES
from tests.factories.ledger import random_hash
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/status/{sweep_id}/confirm"
OK, FAILED = "0x1", "0x0"
RECEIPT = {"transactionHash": "0x" + "11" * 32}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def receipt(tx_hash: str, *, status: str = OK) -> dict[str, Any]:
    """Return a receipt as wallets report it; only its hash is true."""
    return {
        "logs": [{"address": "0x" + "22" * 20, "data": "0x", "topics": []}],
        "status": status,
        "blockHash": random_hash(),
        "blockNumber": "0x1",
        "gasUsed": "0x5208",
        "transactionHash": tx_hash,
    }


def calls_status(app: PartnerApp, *tx_hashes: str, **changes: Any) -> dict[str, Any]:
    return {
        "version": "2.0.0",
        "id": "0x10f1",
        "chainId": hex(app.chain.world["chainId"]),
        "status": 200,
        "atomic": True,
        "receipts": [receipt(tx_hash) for tx_hash in tx_hashes],
    } | changes


def post(app: PartnerApp, sweep_id: str, status: object, **more: Any) -> Any:
    path = f"/v2/sweep/status/{sweep_id}/confirm"
    return app.api.post(path, {"callsStatus": status, **more}, content_type="application/json")


def transactions_of(response: Any) -> dict[str, str]:
    """Return the status of each transaction by its hash."""
    return {tx["txHash"]: tx["status"] for tx in response.json()["data"]["transactions"]}


def test_the_hash_of_its_receipt_completes_the_sweep(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    response = post(app, built["sweepId"], calls_status(app, tx_hash.upper().replace("0X", "0x")))
    assert (response.status_code, transactions_of(response)) == (200, {tx_hash: "accepted"})
    assert_documented(response, path=PATH)


def test_of_several_transactions_the_one_that_swept_counts(app: PartnerApp) -> None:
    built = app.build()
    (issue,) = built["issues"]["allowance"]
    approval = app.chain.send(app.user, issue["transaction"])
    swept = app.chain.sign_and_send(app.user, built)
    response = post(app, built["sweepId"], calls_status(app, approval, swept, approval))
    assert (response.status_code, transactions_of(response)) == (200, {approval: "rejected", swept: "accepted"})
    again = post(app, built["sweepId"], calls_status(app, approval, swept))
    assert (again.status_code, again.json()["data"]["status"]) == (200, "completed")


def test_nothing_but_the_hashes_is_believed(app: PartnerApp) -> None:
    built = app.build()
    invented = random_hash()
    response = post(app, built["sweepId"], calls_status(app, invented))
    assert (response.status_code, transactions_of(response)) == (202, {invented: "submitted"})
    swept = app.execute(built)
    failed = calls_status(app, status=500, receipts=[receipt(swept, status=FAILED)])
    assert post(app, built["sweepId"], failed).json()["data"]["status"] == "completed"


def test_a_revert_is_reported_before_a_transaction_that_did_something_else(app: PartnerApp) -> None:
    built = app.build()
    reverted = app.chain.sign_and_send(app.user, built)  # without the approval
    (issue,) = built["issues"]["allowance"]
    approval = app.chain.send(app.user, issue["transaction"])
    response = post(app, built["sweepId"], calls_status(app, reverted, approval))
    assert error_of(response) == (422, "transaction_reverted")
    assert error_of(post(app, built["sweepId"], calls_status(app, approval))) == (422, "event_mismatch")


def test_a_sweep_that_another_transaction_executed_says_which(app: PartnerApp) -> None:
    built = app.build()
    invented = random_hash()
    post(app, built["sweepId"], calls_status(app, invented))
    swept = app.execute(built)
    app.confirm(built, swept)
    response = post(app, built["sweepId"], calls_status(app, invented, random_hash()))
    assert error_of(response) == (409, "sweep_already_confirmed")
    assert response.json()["error"]["details"][0]["message"] == swept


def test_the_chain_must_be_that_of_the_sweep_also_if_its_execution_is_reported_again(app: PartnerApp) -> None:
    built = app.build()
    swept = app.execute(built)
    app.confirm(built, swept)
    assert post(app, built["sweepId"], calls_status(app, swept)).status_code == 200
    response = post(app, built["sweepId"], calls_status(app, swept, chainId="0x1"))
    assert (error_of(response), details_of(response)) == (
        (400, "invalid_request"),
        {("callsStatus.chainId", "other_chain")},
    )


def test_the_chain_must_be_that_of_the_sweep(app: PartnerApp) -> None:
    built = app.build()
    response = post(app, built["sweepId"], calls_status(app, random_hash(), chainId="0x1"))
    assert (error_of(response), details_of(response)) == (
        (400, "invalid_request"),
        {("callsStatus.chainId", "other_chain")},
    )
    assert not SweepTransaction.objects.exists()


def test_a_batch_that_is_not_in_a_block_yet_stores_nothing(app: PartnerApp) -> None:
    built = app.build()
    for waiting in (calls_status(app, status=100), calls_status(app, status=400)):
        response = post(app, built["sweepId"], waiting)
        assert (error_of(response), details_of(response)) == (
            (400, "invalid_request"),
            {("callsStatus.receipts", "too_short")},
        )
        del waiting["receipts"]
        assert details_of(post(app, built["sweepId"], waiting)) == {("callsStatus.receipts", "required")}
    assert not SweepTransaction.objects.exists()


def test_fields_that_are_not_read_may_hold_anything(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    reported = calls_status(app, capabilities={"paymaster": {"url": None}}, version=2, status="CONFIRMED", id=None)
    reported["receipts"] = [{"transactionHash": tx_hash, "logs": "none", "chainId": 5}]
    assert post(app, built["sweepId"], reported).status_code == 200


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"chainId": True}, ("callsStatus.chainId", "invalid_type")),
        ({"chainId": 31337.5}, ("callsStatus.chainId", "invalid_type")),
        ({"chainId": {"id": 31337}}, ("callsStatus.chainId", "invalid_type")),
        ({"chainId": -1}, ("callsStatus.chainId", "invalid_format")),
        ({"chainId": "0x"}, ("callsStatus.chainId", "invalid_format")),
        ({"chainId": "local"}, ("callsStatus.chainId", "invalid_format")),
        ({"chainId": "0x" + "f" * 17}, ("callsStatus.chainId", "invalid_format")),
        ({"chainId": "0x" + "0" * 200 + "7a69"}, ("callsStatus.chainId", "invalid_format")),
        ({"chainId": [[1]] * 100}, ("callsStatus.chainId", "invalid_format")),
        ({"receipts": None}, ("callsStatus.receipts", "invalid_type")),
        ({"receipts": {}}, ("callsStatus.receipts", "invalid_type")),
        ({"receipts": ["0x"]}, ("callsStatus.receipts[0]", "invalid_type")),
        ({"receipts": [{}]}, ("callsStatus.receipts[0].transactionHash", "required")),
        ({"receipts": [{"transactionHash": 1}]}, ("callsStatus.receipts[0].transactionHash", "invalid_type")),
        ({"receipts": [{"transactionHash": "0x1"}]}, ("callsStatus.receipts[0].transactionHash", "invalid_format")),
        ({"receipts": [{}] * (MAX_RECEIPTS + 1)}, ("callsStatus.receipts", "too_long")),
        (
            {"receipts": [{"transactionHash": f"0x{number:064x}"} for number in range(MAX_HASHES + 1)]},
            ("callsStatus.receipts", "too_long"),
        ),
        (
            {"chainId": None, "receipts": [{**RECEIPT, "chainId": []}]},
            ("callsStatus.receipts[0].chainId", "invalid_type"),
        ),
    ],
)
def test_what_no_wallet_answers_is_refused(app: PartnerApp, changes: dict[str, Any], detail: tuple[str, str]) -> None:
    response = post(app, str(uuid4()), calls_status(app, random_hash(), **changes))
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), {detail})


@pytest.mark.parametrize("status", [None, [], "0x", 7])
def test_a_status_is_an_object(app: PartnerApp, status: object) -> None:
    assert details_of(post(app, str(uuid4()), status)) == {("callsStatus", "invalid_type")}


def test_a_hash_and_a_status_are_not_taken_together(app: PartnerApp) -> None:
    response = post(app, str(uuid4()), calls_status(app, random_hash()), txHash=random_hash())
    assert details_of(response) == {("callsStatus", "not_applicable")}


def test_fees_can_be_set_nowhere_in_it(app: PartnerApp) -> None:
    response = post(app, str(uuid4()), calls_status(app, random_hash(), capabilities={"feeBps": 1}))
    assert error_of(response) == (400, "forbidden_field")


def test_as_many_hashes_as_a_sweep_has_candidates_are_looked_up(app: PartnerApp) -> None:
    assert MAX_HASHES <= MAX_CANDIDATES
    built = app.build()
    swept = app.execute(built)
    invented = [random_hash() for _ in range(MAX_HASHES - 1)]
    response = post(app, built["sweepId"], calls_status(app, *invented, swept))
    assert transactions_of(response)[swept] == "accepted"


# --- what wallets send ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "named",
    [
        {"chainId": 31337},
        {"chainId": "0x07a69"},
        {"chainId": "0X7A69"},
        {"chainId": "0x0000000000007a69"},
        {"chainId": "31337"},
        {"chainId": "eip155:31337"},
        {"chainId": None},
        {},
        {"status": "CONFIRMED"},
        {"status": 200, "version": "1.0"},
    ],
)
@pytest.mark.parametrize("of_receipts", [{}, {"chainId": "0x7a69"}, {"chainId": 31337}, {"chainId": None}])
def test_the_hash_is_looked_up_however_the_wallet_names_the_chain(
    app: PartnerApp, named: dict[str, Any], of_receipts: dict[str, Any]
) -> None:
    tx_hash = random_hash()
    response = post(app, app.build()["sweepId"], {"receipts": [receipt(tx_hash) | of_receipts], **named})
    assert (response.status_code, transactions_of(response)) == (202, {tx_hash: "submitted"})


@pytest.mark.parametrize("other", ["0x1", 1, "1", "eip155:1", "0x01"])
def test_the_chain_of_the_receipts_must_be_that_of_the_sweep_if_the_wallet_names_no_other(
    app: PartnerApp, other: object
) -> None:
    built = app.build()
    response = post(app, built["sweepId"], {"receipts": [{**RECEIPT, "chainId": other}] * 2})
    assert details_of(response) == {("callsStatus.chainId", "other_chain")}
    response = post(app, built["sweepId"], calls_status(app, receipts=[{**RECEIPT, "chainId": other}]))
    assert response.status_code == 202


@pytest.mark.parametrize("count", [13, MAX_RECEIPTS])
def test_one_hash_may_have_a_receipt_for_each_call(app: PartnerApp, count: int) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    response = post(app, built["sweepId"], calls_status(app, *[tx_hash] * count))
    assert (response.status_code, transactions_of(response)) == (200, {tx_hash: "accepted"})


def with_logs(tx_hash: str, size: int) -> bytes:
    """Return a body of so many bytes, most of which are logs."""
    log = {"address": "0x" + "22" * 20, "data": "0x" + "00" * 64, "topics": ["0x" + "33" * 32] * 3, "removed": False}
    logs = ",".join([json.dumps(log)] * (size // (len(json.dumps(log)) + 1) - 1))
    body = f'{{"callsStatus": {{"receipts": [{{"logs": [{logs}], "transactionHash": "{tx_hash}"}}]}}}}'
    return body.encode().ljust(size)


def post_raw(app: PartnerApp, sweep_id: str, raw: bytes) -> Any:
    return app.api.post(f"/v2/sweep/status/{sweep_id}/confirm", raw, content_type="application/json")


def test_two_megabytes_of_logs_are_passed_over(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    response = post_raw(app, built["sweepId"], with_logs(tx_hash, LARGEST_BODY_BYTES))
    assert (response.status_code, transactions_of(response)) == (200, {tx_hash: "accepted"})
    larger = post_raw(app, built["sweepId"], with_logs(tx_hash, LARGEST_BODY_BYTES + 1))
    assert error_of(larger) == (413, "payload_too_large")


def test_nothing_of_the_logs_is_built(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, built = with_logs(random_hash(), LARGEST_BODY_BYTES), app.build()
    peaks: list[int] = []

    def read(body: bytes) -> dict[str, Any]:
        tracemalloc.start()
        try:
            return original(body)
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    original = decoder._read  # noqa: SLF001
    monkeypatch.setattr(decoder, "_read", read)
    assert post_raw(app, built["sweepId"], raw).status_code == 202
    assert peaks[0] < 3 * LARGEST_BODY_BYTES  # the bytes as text, and a few of their quotes


# --- what none does ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "required"),
        (b"{", None),
        (b"[]", None),
        (b"7", None),
        (b"NaN", None),
        (b'{"callsStatus": {"receipts": [{"logs": [NaN]}]}}', None),
        (b'{"callsStatus": {"receipts": [{"logs": [1,]}]}}', None),
        (b'{"callsStatus": {"id": "\xff"}}', None),
        (b'{"txHash": "\\ud800"}', None),
        (b'{"callsStatus": {"x": ' + b"[" * 16 + b"]" * 16 + b"}}", None),
        (b'{"callsStatus": {"x": ["\\\\", "]]]]", ' + b"[" * 16 + b"]" * 16 + b"]}}", None),
        (b'{"callsStatus": {"x": ["\\"]]]]", ' + b"[" * 16 + b"]" * 16 + b"]}}", None),
        (b"[" * LARGEST_BODY_BYTES, None),
        (b'{"x":' * (LARGEST_BODY_BYTES // 5), None),
        (b'{"callsStatus": {"x": [' + b"[],[],".join([b""] * 60_000) + b"]}}", None),
        (b'{"callsStatus": {"x": [' + b'"",' * 300_000 + b'""]}}', None),
        (b'{"mi\\u0000nutes": 1}', "unknown_field"),
        (b'{"feeBps": 1, "minutes": 1}', "forbidden_field"),
        (b'{"txHash": 7}', "invalid_type"),
    ],
)
def test_a_body_that_reports_nothing_is_refused(app: PartnerApp, raw: bytes, code: str | None) -> None:
    response = post_raw(app, str(uuid4()), raw)
    assert response.status_code == 400
    assert [detail["code"] for detail in response.json()["error"]["details"]] == ([code] if code else [])


def test_strings_with_escapes_and_brackets_are_passed_over(app: PartnerApp) -> None:
    odd: dict[str, Any] = {"note": '[[[["\\"{{{{' * 20, "\u20ac": '\u20ac \\ "', "deep": [[[[[[1.5]]]]]]}
    response = post(app, app.build()["sweepId"], {"receipts": [{**RECEIPT, **odd}], **odd})
    assert response.status_code == 202


def test_a_report_is_refused_or_passed_over_in_little_time() -> None:
    for filler in (b"[],", b"{},", b'"",', b"[[],", b'"\\\\",', b"1,", b'{"a":1},', b'"' + b"0" * 99 + b'",'):
        count = (LARGEST_BODY_BYTES - 100) // len(filler)
        raw = b'{"callsStatus": {"x": [' + filler * count + b"0]}}"
        started = time.process_time()
        with suppress(InvalidRequest):
            decoder._read(raw)  # noqa: SLF001
        assert time.process_time() - started < 0.15, filler  # 35 ms at most where nothing else runs


def test_a_transaction_beside_one_that_reverted_before_is_looked_up(app: PartnerApp) -> None:
    built = app.build()
    reverted = app.chain.sign_and_send(app.user, built)  # without the approval
    assert error_of(post(app, built["sweepId"], calls_status(app, reverted))) == (422, "transaction_reverted")
    assert app.state(built["sweepId"])["status"] == "failed"
    swept = app.execute(built)
    response = post(app, built["sweepId"], calls_status(app, reverted, swept))
    assert (response.status_code, transactions_of(response)) == (200, {reverted: "reverted", swept: "accepted"})
