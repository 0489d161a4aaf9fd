"""POST /v2/sweep/status/:id/confirm: every answer to a reported hash, with real transactions."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from celery import current_app
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from indexer import checks
from ledger.models import JournalEntry
from partners import outside
from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from sweepapi.postgres import connection as postgres_connection
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.follow import following
from sweeps.rails.registry import RAILS
from sweeps.story import settle
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.fake_node import FakeNode
from tests.local_chain import SAFE_AFTER
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of, only_v5

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/status/{sweep_id}/confirm"
PARALLEL = 50
PARTNER_ACCOUNTS = {"v5_partner_fees": "partner_settled", "v4_fallback": "partner_payable"}
IDENTITIES = {"v5_partner_fees": "nonce", "v4_fallback": "sweepRef"}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.fixture
def dead_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")


def make_overdue(sweep_id: str) -> None:
    """Make a sweep due for so long that beat picks it up."""
    Sweep.objects.filter(id=sweep_id).update(next_check_at=timezone.now() - timedelta(minutes=1))


def closed_sweep(partner: Partner, status: str) -> Sweep:
    return SweepFactory.create(
        partner=partner,
        status=status,
        execution__status="cancelled" if status == "void" else status,
        is_open=False,
        closed_at=timezone.now(),
        next_check_at=None,
        voided_at=timezone.now(),
        void_reason="test",
    )


def the_worker_checks(built: dict[str, Any]) -> None:
    make_overdue(built["sweepId"])
    checks.check_due()


def while_confirm_checks(
    monkeypatch: pytest.MonkeyPatch, rival: Callable[[], object], *, is_answered: bool = True
) -> None:
    """Run the rival between the check of the next confirm and its settling."""
    original = following.read

    def slow_read(*arguments: Any, **options: Any) -> Any:
        seen = list(original(*arguments, **options))
        for rail in RAILS.values():
            monkeypatch.setattr(rail, "read", original)
        rival()
        return iter(seen if is_answered else [[(sweep_id, None) for sweep_id, _ in lot] for lot in seen])

    for rail in RAILS.values():
        monkeypatch.setattr(rail, "read", slow_read)


def test_a_mined_sweep_is_completed_and_booked_as_the_event_says(app: PartnerApp) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    state = app.confirm(built, tx_hash)
    assert (state["status"], state["open"], state["flags"]) == ("completed", True, [])
    transaction = state["transaction"]
    assert (transaction["txHash"], transaction["status"], transaction["source"]) == (tx_hash, "accepted", "partner")
    assert (transaction["finality"], transaction["confirmations"]) == ("included", 1)
    assert transaction["blockNumber"] == app.chain.receipt(tx_hash)["blockNumber"]
    actual = {name: int(amount) for name, amount in state["feeAuthorization"]["actualFees"].items()}
    assert actual["grossOutput"] == actual["userAmount"] + actual["partnerFee"] + actual["protocolFee"]
    assert actual["totalFee"] == actual["grossOutput"] * 75 // 10_000
    assert actual["partnerFee"] == actual["totalFee"] * 4_000 // 10_000
    assert [(e["account"], e["direction"], int(e["amount"])) for e in state["ledger"]["entries"]] == [
        ("fees_charged", "debit", actual["totalFee"]),
        (PARTNER_ACCOUNTS[state["mode"]], "credit", actual["partnerFee"]),
        ("protocol_revenue", "credit", actual["protocolFee"]),
    ]


def test_both_successes_have_the_documented_shape(app: PartnerApp, settings: Settings) -> None:
    built = app.build()
    waiting = app.post_confirm(built["sweepId"], random_hash())
    assert (waiting.status_code, waiting.headers["Retry-After"]) == (202, str(settings.FIRST_CHECK_SECONDS))
    assert_documented(waiting, path=PATH)
    completed = app.post_confirm(built["sweepId"], app.execute(built))
    assert completed.status_code == 200
    assert_documented(completed, path=PATH)


def test_a_mined_sweep_costs_one_round_trip_and_its_repetition_none(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    round_trips.clear()
    app.confirm(built, tx_hash)
    assert len(round_trips) == 1
    app.confirm(built, tx_hash)
    assert len(round_trips) == 1


def test_the_same_hash_again_gives_the_same_result_in_any_casing(app: PartnerApp) -> None:
    state, tx_hash = app.complete()
    for spelling in (tx_hash, "0x" + tx_hash[2:].upper()):
        again = app.post_confirm(state["sweepId"], spelling)
        assert (again.status_code, again.json()["data"]) == (200, state)
    assert JournalEntry.objects.count() == 1


def test_another_hash_after_completion_is_refused_with_the_accepted_one(app: PartnerApp) -> None:
    state, tx_hash = app.complete()
    response = app.post_confirm(state["sweepId"], random_hash())
    assert error_of(response) == (409, "sweep_already_confirmed")
    assert response.json()["error"]["details"] == [
        {"field": "txHash", "code": "accepted_hash", "message": tx_hash},
    ]
    assert app.state(state["sweepId"]) == state


def test_a_hash_that_is_not_mined_yet_is_pending_and_the_worker_completes_it(app: PartnerApp) -> None:
    built = app.build()
    app.chain.approve(app.user, app.chain.token("USDC"))
    with app.chain.mining_paused():
        tx_hash = app.chain.sign_and_send(app.user, built)
        state = app.confirm(built, tx_hash, status=202)
        app.chain.mine()
    assert (state["status"], state["transaction"]["status"]) == ("pending", "submitted")
    make_overdue(built["sweepId"])
    assert checks.check_due() == 1
    assert app.state(built["sweepId"])["status"] == "completed"


def test_confirming_again_does_not_put_off_the_check_of_the_worker(app: PartnerApp, settings: Settings) -> None:
    settings.FIRST_CHECK_SECONDS = 60
    built, tx_hash = app.build(), random_hash()
    first, second = (app.confirm(built, tx_hash, status=202) for _ in range(2))
    assert second["feeAuthorization"]["nextCheckAt"] == first["feeAuthorization"]["nextCheckAt"]


def test_a_wrong_hash_is_a_mismatch_and_the_right_one_still_completes(app: PartnerApp) -> None:
    built, other = app.build(), app.build()
    wrong_hash = app.execute(other)
    response = app.post_confirm(built["sweepId"], wrong_hash)
    assert error_of(response) == (422, "event_mismatch")
    assert details_of(response) == {(IDENTITIES[built["mode"]], "differs")}
    state = app.state(built["sweepId"])
    assert (state["status"], state["transaction"]["status"]) == ("pending", "rejected")
    completed = app.confirm(built, app.execute(built))
    assert [tx["status"] for tx in completed["transactions"]] == ["rejected", "accepted"]
    assert error_of(app.post_confirm(built["sweepId"], wrong_hash)) == (409, "sweep_already_confirmed")
    assert app.confirm(other, wrong_hash)["status"] == "completed"


def test_an_unrelated_transaction_lacks_the_event(app: PartnerApp) -> None:
    built = app.build()
    payment = app.chain.send(app.user, {"to": app.chain.users[1].address, "data": "0x", "value": "1"})
    for _ in range(2):
        response = app.post_confirm(built["sweepId"], payment)
        assert error_of(response) == (422, "event_mismatch")
        assert details_of(response) == {("event", "missing")}


def test_a_reverted_transaction_fails_the_sweep_and_a_later_one_completes_it(app: PartnerApp) -> None:
    built = app.build()
    reverted = app.chain.sign_and_send(app.user, built)  # without the approval
    assert app.chain.receipt(reverted)["status"] == 0
    for _ in range(2):
        assert error_of(app.post_confirm(built["sweepId"], reverted)) == (422, "transaction_reverted")
    state = app.state(built["sweepId"])
    assert (state["status"], state["open"], state["transaction"]["status"]) == ("failed", True, "reverted")
    assert app.confirm(built, random_hash(), status=202)["status"] == "pending"
    completed = app.confirm(built, app.execute(built))
    assert [tx["status"] for tx in completed["transactions"]] == ["reverted", "replaced", "accepted"]


def test_a_revert_with_another_live_candidate_leaves_the_sweep_pending(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, random_hash(), status=202)
    reverted = app.chain.sign_and_send(app.user, built)
    assert error_of(app.post_confirm(built["sweepId"], reverted)) == (422, "transaction_reverted")
    assert app.state(built["sweepId"])["status"] == "pending"


def test_a_mismatch_after_a_revert_leaves_the_sweep_failed(app: PartnerApp) -> None:
    built = app.build()
    app.post_confirm(built["sweepId"], app.chain.sign_and_send(app.user, built))
    payment = app.chain.send(app.user, {"to": app.chain.users[1].address, "data": "0x", "value": "1"})
    assert error_of(app.post_confirm(built["sweepId"], payment)) == (422, "event_mismatch")
    assert app.state(built["sweepId"])["status"] == "failed"


@pytest.mark.parametrize(
    ("status", "code"), [("expired", "sweep_expired"), ("void", "sweep_void"), ("failed", "sweep_failed")]
)
def test_a_closed_sweep_refuses_every_hash_without_reading_the_chain(
    app: PartnerApp, partner: Partner, round_trips: list[list[str]], status: str, code: str
) -> None:
    sweep = closed_sweep(partner, status)
    assert error_of(app.post_confirm(str(sweep.id), random_hash())) == (409, code)
    assert (round_trips, sweep.transactions.count()) == ([], 0)


def test_a_voided_sweep_refuses_every_hash_while_still_open(app: PartnerApp, round_trips: list[list[str]]) -> None:
    built = app.build()
    void(sweep_id=Sweep.objects.get().id, reason="requested by the user", requested_by="ops")
    round_trips.clear()
    assert error_of(app.post_confirm(built["sweepId"], random_hash())) == (409, "sweep_void")
    assert round_trips == []


@only_v5
def test_a_cancellation_that_the_worker_finds_meanwhile_is_answered_as_void(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    app.chain.mine(SAFE_AFTER)
    while_confirm_checks(monkeypatch, lambda: the_worker_checks(built))
    assert error_of(app.post_confirm(built["sweepId"], random_hash())) == (409, "sweep_void")
    assert app.state(built["sweepId"])["status"] == "void"


def test_a_hash_displaced_while_another_completes_the_sweep_is_refused_with_the_accepted_one(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, displaced = app.build(), random_hash()
    tx_hash = app.execute(built)
    app.confirm(built, displaced, status=202)

    def displace_and_complete() -> None:
        SweepTransaction.objects.filter(tx_hash=displaced).update(status="displaced")
        app.confirm(built, tx_hash)

    while_confirm_checks(monkeypatch, displace_and_complete)
    response = app.post_confirm(built["sweepId"], displaced)
    assert error_of(response) == (409, "sweep_already_confirmed")
    assert response.json()["error"]["details"][0]["message"] == tx_hash


def test_a_confirm_without_an_answer_leaves_no_error_on_a_sweep_that_the_worker_settled_meanwhile(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    while_confirm_checks(monkeypatch, lambda: None, is_answered=False)
    app.confirm(built, tx_hash, status=202)
    while_confirm_checks(monkeypatch, lambda: the_worker_checks(built), is_answered=False)
    state = app.confirm(built, tx_hash)
    assert state == app.state(built["sweepId"]), "it answers what is stored by then"
    assert (state["status"], state["feeAuthorization"]["lastError"]) == ("completed", None)


def test_a_report_is_stored_even_if_the_check_fails_in_a_way_that_nothing_expects(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, tx_hash = app.build(), random_hash()

    def fail() -> None:
        raise ZeroDivisionError

    while_confirm_checks(monkeypatch, fail)
    app.api.raise_request_exception = False
    assert app.post_confirm(built["sweepId"], tx_hash).status_code == 500
    (tx,) = app.state(built["sweepId"])["transactions"]
    assert (tx["txHash"], tx["status"]) == (tx_hash, "submitted")


def test_a_report_is_stored_even_if_what_the_check_showed_can_not_be_applied(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.api.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr(settle, "apply", lambda *_: 1 / 0)
        assert app.post_confirm(built["sweepId"], tx_hash).status_code == 500
    (tx,) = app.state(built["sweepId"])["transactions"]
    assert (tx["txHash"], tx["status"]) == (tx_hash, "submitted")
    the_worker_checks(built)
    assert app.state(built["sweepId"])["status"] == "completed"


def test_two_hashes_reported_at_the_same_time_are_both_stored(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    built, first, second = app.build(), random_hash(), random_hash()
    while_confirm_checks(monkeypatch, lambda: app.confirm(built, first, status=202))
    state = app.confirm(built, second, status=202)
    assert [tx["txHash"] for tx in state["transactions"]] == [first, second]
    assert [event["txHash"] for event in state["events"][1:]] == [first, second]


def test_a_hash_reported_twice_at_the_same_time_is_stored_once(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    while_confirm_checks(monkeypatch, lambda: app.confirm(built, tx_hash))
    state = app.confirm(built, tx_hash)
    assert (state["status"], [tx["txHash"] for tx in state["transactions"]]) == ("completed", [tx_hash])
    assert [event["type"] for event in state["events"]].count("transaction_reported") == 1


def test_a_check_that_no_provider_answers_does_not_put_off_the_planned_one(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, tx_hash = app.build(), random_hash()
    while_confirm_checks(monkeypatch, lambda: None, is_answered=False)
    planned = app.confirm(built, tx_hash, status=202)["feeAuthorization"]["nextCheckAt"]
    while_confirm_checks(monkeypatch, lambda: None, is_answered=False)
    assert app.confirm(built, tx_hash, status=202)["feeAuthorization"]["nextCheckAt"] == planned


def test_the_reverted_hash_of_a_closed_sweep_still_answers_that_it_reverted(app: PartnerApp, partner: Partner) -> None:
    sweep = closed_sweep(partner, "failed")
    tx = SweepTransactionFactory.create(
        sweep=sweep, status="reverted", block_number=5, reason="The transaction reverted."
    )
    assert error_of(app.post_confirm(str(sweep.id), tx.tx_hash)) == (422, "transaction_reverted")


def test_a_first_hash_after_the_deadline_is_accepted_until_the_chain_proves_the_sweep_unused(app: PartnerApp) -> None:
    built = app.build()
    app.chain.mine(seconds=1000)
    assert app.confirm(built, random_hash(), status=202)["status"] == "pending"
    app.chain.mine(SAFE_AFTER)
    response = app.post_confirm(built["sweepId"], random_hash())
    assert error_of(response) == (409, "sweep_failed")
    state = app.state(built["sweepId"])
    assert (state["status"], state["open"]) == ("failed", False)
    assert [tx["status"] for tx in state["transactions"]] == ["dropped", "dropped"]


@pytest.mark.parametrize(
    ("tx_hash", "code"),
    [
        ("0x" + "a" * 63, "invalid_format"),
        ("0x" + "a" * 65, "invalid_format"),
        ("a" * 64, "invalid_format"),
        ("0x" + "g" * 64, "invalid_format"),
        (" 0x" + "a" * 64, "invalid_format"),
        ("0x" + "a" * 64 + "\n", "invalid_format"),
        ("", "invalid_format"),
        (7, "invalid_type"),
        (None, "invalid_type"),
        (["0x" + "a" * 64], "invalid_type"),
    ],
)
def test_anything_but_a_hash_is_refused(app: PartnerApp, tx_hash: object, code: str) -> None:
    response = app.post_confirm(str(uuid4()), tx_hash)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("txHash", code)}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, (400, "invalid_request")),
        ({"txHash": "0x" + "a" * 64, "note": ""}, (400, "invalid_request")),
        ({"txHash": "0x" + "a" * 64, "feeBps": 1}, (400, "forbidden_field")),
    ],
)
def test_a_body_of_other_fields_is_refused(api: Client, body: dict[str, Any], error: tuple[int, str]) -> None:
    response = api.post(PATH.format(sweep_id=uuid4()), body, content_type="application/json")
    assert error_of(response) == error


def test_a_hash_of_any_casing_is_stored_in_lower_case(app: PartnerApp) -> None:
    built, tx_hash = app.build(), random_hash()
    state = app.confirm(built, "0x" + tx_hash[2:].upper(), status=202)
    assert state["transaction"]["txHash"] == tx_hash
    assert len(app.confirm(built, tx_hash, status=202)["transactions"]) == 1


def test_another_partners_sweep_looks_exactly_like_a_missing_one(app: PartnerApp) -> None:
    built = app.build()
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="stranger", mode=Mode.TEST)
    stranger = PartnerApp(Client(headers={"x-api-key": key, "x-request-id": "same"}), app.chain)
    answers = [
        stranger.post_confirm(sweep_id, random_hash()) for sweep_id in (built["sweepId"], str(uuid4()), "nonsense")
    ]
    assert {error_of(answer) for answer in answers} == {(404, "sweep_not_found")}
    assert len({answer.content for answer in answers}) == 1
    assert app.state(built["sweepId"])["transactions"] == []


def test_a_confirm_without_a_key_is_refused(app: PartnerApp, anonymous: Client) -> None:
    built = app.build()
    stranger = PartnerApp(anonymous, app.chain)
    assert error_of(stranger.post_confirm(built["sweepId"], random_hash())) == (401, "missing_api_key")


def test_a_chain_that_does_not_respond_leaves_the_candidate_to_the_worker(
    app: PartnerApp, use_providers: Callable[..., ProviderPool]
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    use_providers("http://127.0.0.1:1")
    state = app.confirm(built, tx_hash, status=202)
    assert (state["status"], state["transaction"]["txHash"]) == ("pending", tx_hash)
    assert state["feeAuthorization"]["lastError"] == "No provider answered in time."
    use_providers(app.chain.world["rpcUrl"])
    make_overdue(built["sweepId"])
    checks.check_due()
    assert app.state(built["sweepId"])["status"] == "completed"


@pytest.mark.usefixtures("dead_broker")
def test_a_broker_that_is_down_causes_only_delay(app: PartnerApp) -> None:
    built = app.build()
    app.chain.approve(app.user, app.chain.token("USDC"))
    with app.chain.mining_paused():
        tx_hash = app.chain.sign_and_send(app.user, built)
        assert app.confirm(built, tx_hash, status=202)["status"] == "pending"
        app.chain.mine()
    make_overdue(built["sweepId"])
    checks.check_due()
    assert app.state(built["sweepId"])["status"] == "completed"


def test_a_receipt_that_one_of_two_providers_lacks_awaits_their_agreement(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    behind = start_node()
    behind.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    use_providers(behind.url, app.chain.world["rpcUrl"])
    state = app.confirm(built, tx_hash, status=202)
    assert (state["status"], state["awaits"]) == ("pending", "agreement")
    use_providers(behind.url, app.chain.world["rpcUrl"], app.chain.world["rpcUrl"])
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()
    assert app.state(built["sweepId"])["status"] == "completed", "the worker asks a third provider"


@pytest.mark.django_db(transaction=True)
def test_fifty_confirms_of_one_mined_sweep_at_once_all_succeed_and_book_once(
    app: PartnerApp, api_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = outside.places_of(threads=10 * PARALLEL)
    monkeypatch.setattr(outside, "_places", lambda: places)
    monkeypatch.setattr(postgres_connection, "CONNECT_SECONDS", 20.0)  # so many at once take longer than usual
    built = app.build()
    tx_hash = app.execute(built)

    def confirm_once(_number: int) -> int:
        client = PartnerApp(Client(headers={"x-api-key": api_key}), app.chain)
        try:
            return int(client.post_confirm(built["sweepId"], tx_hash).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(PARALLEL) as threads:
        codes = list(threads.map(confirm_once, range(PARALLEL)))
    assert codes == [200] * PARALLEL
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.executions.get().booking_epoch, sweep.transactions.count()) == ("completed", 0, 1)
    assert JournalEntry.objects.count() == 1
