"""A receipt is given once nothing in it can change, and says what the chain shows, in every mode and on every rail."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt
import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from eth_account import Account
from eth_account.messages import encode_typed_data
from pytest_django import Settings

from indexer import blocks, checks
from lab.bench.sweeps.numbers import number_by_time
from ledger.models import Settlement
from partners.models import Partner
from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.proof_keys import SigningKey
from sweepapi.evm.contracts import v4, v5
from sweepapi.evm.encoding import responses
from sweepapi.fees import FeeRates
from sweeps.books import adoption
from sweeps.books.adoption import Adopted
from sweeps.models import Sweep, SweepTransaction, WatchedBlock
from sweeps.protocol.rail import Inclusion, OutputAsset
from tests.factories.sweeps import CONTRACT, LOCAL, OUTPUT, SweepFactory, random_checksum_address
from tests.indexer.reconciled import sweep_of
from tests.local_chain import FINAL_AFTER
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of, only_v5
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import FEE, GROSS, PARTNER_FEE, LocalSweep

pytestmark = pytest.mark.django_db


def final(app: PartnerApp, built: dict[str, Any]) -> None:
    """Make the block of an executed sweep final, and give its entry a number."""
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    number_by_time()
    assert not sweep_of(built).is_open


def check_blocks() -> None:
    """Check each watched block now."""
    WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    blocks.check_due()


@pytest.fixture
def completed(app: PartnerApp) -> dict[str, Any]:
    """A build whose sweep was executed, and whose block is not final."""
    built = app.build()
    app.confirm(built, app.execute(built))
    return built


def get(api: Client, sweep_id: object, *, version: str = "v2") -> Any:
    return api.get(f"/{version}/sweep/status/{sweep_id}/receipt")


def receipt_of(api: Client, sweep_id: object, *, version: str = "v2") -> dict[str, Any]:
    """Return a receipt that is documented, signed, and the same each time."""
    response = get(api, sweep_id, version=version)
    assert response.status_code == 200, response.content
    assert_documented(response, path=f"/{version}/sweep/status/{{sweep_id}}/receipt")
    data: dict[str, Any] = response.json()["data"]
    (key,) = api.get("/.well-known/jwks.json").json()["keys"]
    assert jwt.PyJWS().decode(data["jws"], jwt.PyJWK(key), algorithms=["EdDSA"]) == canonical(data["receipt"])
    assert get(api, sweep_id, version=version).content == response.content
    receipt: dict[str, Any] = data["receipt"]
    return receipt


# --- what it says -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_mode")
def test_it_says_what_the_chain_shows_at_the_position_that_it_names(app: PartnerApp, completed: dict[str, Any]) -> None:
    final(app, completed)
    receipt = receipt_of(app.api, completed["sweepId"])
    (execution,) = receipt["operations"]
    at = execution["transaction"]
    logs = app.chain.rpc("eth_getTransactionReceipt", at["txHash"])["logs"]
    log = [one for one in logs if one["address"] == execution["address"].lower()][at["logPosition"]]
    assert (int(log["blockNumber"], 16), log["blockHash"]) == (at["blockNumber"], at["blockHash"])
    (shown,) = responses.logs([log], emitter=execution["address"])
    event = v5.decode_executed(shown) or v4.decode_executed(shown)
    assert event is not None
    assert list(execution["event"]["fields"].values()) == [str(value) for value in vars(event).values()]
    fee, amounts = receipt["fee"], execution["amounts"]
    due = FeeRates(fee["totalFeeBps"], fee["partnerShareBps"]).split(int(amounts["grossOutput"]))
    assert list(amounts.values()) == [str(value) for value in vars(due).values()]
    assert receipt["amounts"] == amounts


@only_v5
@pytest.mark.usefixtures("each_mode")
def test_on_v5_it_has_the_fee_authorization_of_each_offer_as_it_was_signed(app: PartnerApp) -> None:
    built = app.build()
    refreshed = app.api.post(f"/v2/sweep/build/{built['sweepId']}/refresh", {}, content_type="application/json")
    app.confirm(built, app.execute(built))
    final(app, built)
    signed = receipt_of(app.api, built["sweepId"])["authorizations"]
    offered = [built["feeAuthorization"], refreshed.json()["data"]["feeAuthorization"]]
    assert [one["offer"] for one in signed] == [1, 2]
    for one, offer in zip(signed, offered, strict=True):
        assert (one["digest"], one["signature"], one["signer"]) == (
            offer["digest"],
            offer["signature"],
            offer["signer"],
        )
        signable = encode_typed_data(full_message=one["typedData"])
        assert Account.recover_message(signable, signature=one["signature"]) == one["signer"]
    assert "fee" in receipt_of(app.api, built["sweepId"])["verifiable"]


def test_the_part_of_a_partner_that_is_paid_later_is_only_attested(
    app: PartnerApp, use_mode: Callable[[str], None]
) -> None:
    use_mode("v4_fallback")
    built = app.build()
    app.confirm(built, app.execute(built))
    final(app, built)
    receipt = receipt_of(app.api, built["sweepId"])
    assert {"fee.partnerShareBps", "amounts.partnerFee", "amounts.protocolFee"} <= set(receipt["attested"])
    assert {"amounts.totalFee", "amounts.userAmount", "operations[].event"} <= set(receipt["verifiable"])
    assert not set(receipt["attested"]) & set(receipt["verifiable"])
    assert receipt["authorizations"] == []
    assert receipt == receipt_of(app.api, built["sweepId"], version="v1")


def test_it_has_the_entries_as_they_are_in_the_ledger(app: PartnerApp, completed: dict[str, Any]) -> None:
    final(app, completed)
    (entry,) = receipt_of(app.api, completed["sweepId"])["entries"]
    items = app.api.get("/v2/ledger/entries").json()["data"]["items"]
    assert {(item["number"], item["entryId"], item["txHash"]) for item in items} == {
        (entry["number"], entry["id"], entry["txHash"])
    }
    shown = [{name: posting[name] for name in ("id", "account", "direction", "amount")} for posting in items]
    assert sorted(entry["postings"], key=lambda one: one["id"]) == sorted(shown, key=lambda one: one["id"])


def test_on_solana_it_has_each_transaction_that_landed(api: Client, partner: Partner, cluster: SolanaCluster) -> None:
    local = LocalSweep(cluster, transactions=2)
    Sweep.objects.update(partner=partner)
    landed, _ = local.executions
    facts = {"gross_output": GROSS, "total_fee": FEE, "partner_fee": PARTNER_FEE}
    local.row.executions.filter(id=landed.id).update(
        status="executed", protocol_fee=FEE - PARTNER_FEE, user_amount=GROSS - FEE, **facts
    )
    SweepTransaction.objects.create(
        sweep=local.row,
        execution=landed,
        tx_hash="5" * 87,
        status="accepted",
        finality="final",
        block_number=17,
        block_hash="4" * 44,
        confirmed_at=timezone.now(),
    )
    close(local.row)
    receipt = receipt_of(api, local.row.id, version="v1")
    (execution,) = receipt["operations"]
    assert (execution["id"], execution["address"]) == (landed.execution_id, str(cluster.fee_wallet))
    assert (execution["transaction"]["logPosition"], execution["event"]) == (None, None)
    assert receipt["amounts"]["userAmount"] == str(GROSS - FEE)
    assert error_of(get(api, local.row.id)) == (404, "sweep_not_found")


def close(sweep: Sweep) -> None:
    now = timezone.now()
    Sweep.objects.filter(id=sweep.id).update(
        status="completed",
        completed_at=now,
        is_open=False,
        closed_at=now,
        next_check_at=None,
        last_event=sweep.last_event + 1,
    )


def test_of_an_adopted_sweep_it_has_what_the_chain_shows(api: Client, partner: Partner) -> None:
    amounts = FeeRates(75, 4000).split(1_000_000)
    adopted = Adopted(
        sweep_id=uuid4(),
        partner=partner,
        rail="evm_v5",
        network=LOCAL,
        venue=CONTRACT,
        execution_id="77",
        wallet=random_checksum_address(),
        output=OutputAsset(OUTPUT, "OUT", 18),
        partner_recipient=random_checksum_address(),
        protocol_recipient=random_checksum_address(),
        settlement=Settlement.ON_CHAIN,
        tx_hash="0x" + "ab" * 32,
        inclusion=Inclusion(5, "0x" + "cd" * 32, 100_000),
        log_position=9,
        amounts=amounts,
        circumstances={"adopted_by": "ops", "token_count": "3"},
    )
    with transaction.atomic():
        adoption.store(adopted)
    number_by_time()
    receipt = receipt_of(api, adopted.sweep_id)
    (execution,) = receipt["operations"]
    assert (execution["transaction"]["logPosition"], execution["event"]["fields"]["tokenCount"]) == (9, "3")
    assert (receipt["fee"]["totalFeeBps"], receipt["authorizations"]) == (None, [])


# --- when it is given -------------------------------------------------------------------------------------------------


def test_there_is_none_before_the_block_is_final(app: PartnerApp, completed: dict[str, Any]) -> None:
    number_by_time()
    response = get(app.api, completed["sweepId"])
    assert error_of(response) == (409, "receipt_not_ready")
    assert [(one["field"], one["message"]) for one in response.json()["error"]["details"]] == [
        ("status", "completed"),
        ("finality", "included"),
    ]


def test_there_is_none_before_the_entries_have_their_numbers(app: PartnerApp, completed: dict[str, Any]) -> None:
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    response = get(app.api, completed["sweepId"])
    assert error_of(response) == (409, "receipt_not_ready")
    assert response.json()["error"]["details"][1]["message"] == "final"
    number_by_time()
    assert get(app.api, completed["sweepId"]).status_code == 200


@pytest.mark.parametrize("status", ["failed", "expired"])
def test_there_is_none_of_a_sweep_that_was_not_executed(api: Client, partner: Partner, status: str) -> None:
    closed = {"status": status, "is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    response = get(api, SweepFactory.create(partner=partner, **closed).id)
    assert error_of(response) == (409, "receipt_not_ready")
    assert details_of(response) == {("status", "current"), ("finality", "current")}


# --- how it is made ---------------------------------------------------------------------------------------------------


def test_the_position_that_a_liar_showed_is_corrected_by_the_final_block(
    app: PartnerApp, completed: dict[str, Any]
) -> None:
    tx = SweepTransaction.objects.get()
    shown = tx.log_position
    SweepTransaction.objects.update(log_position=10_000, logs_digest="00" * 32)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert sweep_of(completed).is_open
    checks.check_due()
    tx.refresh_from_db()
    assert (tx.finality, tx.log_position, sweep_of(completed).is_open) == ("final", shown, False)
    assert sweep_of(completed).executions.get().booking_epoch == 0


def test_more_tokens_take_no_more_queries(app: PartnerApp) -> None:
    counts = []
    for units in ({"USDC": 1.0}, {"USDC": 1.0, "DAI": 1.0, "LINK": 1.0}):
        built = app.build(units)
        app.confirm(built, app.execute(built))
        final(app, built)
        with CaptureQueriesContext(connection) as captured:
            receipt_of(app.api, built["sweepId"])
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_after_a_rotation_it_is_the_same_under_another_signature(
    app: PartnerApp, completed: dict[str, Any], settings: Settings
) -> None:
    final(app, completed)
    before = get(app.api, completed["sweepId"]).json()["data"]
    settings.PROOF_RETIRED_KEYS = [SigningKey.from_settings().public.raw.hex()]
    settings.PROOF_KEY = "22" * 32
    after = get(app.api, completed["sweepId"]).json()["data"]
    assert after["receipt"] == before["receipt"]
    assert after["jws"].split(".")[1] == before["jws"].split(".")[1]
    assert after["jws"] != before["jws"]
