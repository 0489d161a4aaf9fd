"""What partners see of a stored sweep, which one statement reads."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from partners.authentication import Requester
from partners.models import Partner
from sweepapi.errors import SweepNotFound
from sweepapi.evm.contracts.batch import SkipReason
from sweepapi.fees import FeeRates
from sweepapi.modes import Mode, mode_of
from sweeps.models import EventKind, SkippedToken, Sweep, SweepToken, SweepTransaction, WatchedBlock
from sweeps.rails.registry import V1_RAILS
from sweeps.shown.reading import read_snapshot
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.solana_sweeps import SolanaExecutionFactory, SolanaSweepFactory, random_signature
from tests.factories.sweeps import (
    OfferFactory,
    PermitFactory,
    SweepFactory,
    SweepTokenFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    block_at,
    evm_reading,
    executed_log,
    executed_receipt,
    note,
    receipt_of,
    skipped_log,
)
from tests.openapi import assert_documented
from tests.settling import settle
from tests.snapshots import shown
from tests.sweeps.settle.readings import apply

pytestmark = pytest.mark.django_db

HOSTILE = '"\\/\b\f\n\r\t\x01\x1f\x7f é\u2028\u2029\ufeff😀</script>{block}%s'
UINT256 = 2**256 - 1


def completed(factory: type[SweepFactory] = SweepFactory, **facts: Any) -> SweepTransaction:
    """Return the transaction that executed a sweep."""
    tx = SweepTransactionFactory.create(sweep=factory.create(**facts))
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    return tx


def left_out() -> Sweep:
    sweep = SweepFactory.create(permit=None)
    PermitFactory.create(sweep=sweep, floors=[300_000] * 3, max_skipped=2)
    for position in (2, 1):
        SweepTokenFactory.create(sweep=sweep, position=position, symbol=HOSTILE[:20], amount=UINT256, decimals=255)
    tx = SweepTransactionFactory.create(sweep=sweep)
    logs = [skipped_log(sweep, 1, SkipReason.DROPPED), skipped_log(sweep, 2, SkipReason.NOT_FILLED)]
    return apply(sweep, evm_reading(receipt_of(tx, *logs, executed_log(sweep))))


def left_out_and_reversed() -> Sweep:
    sweep = apply(left_out(), evm_reading(head_number=101, canonical=block_at(100, fork=1)))
    assert sweep.executions.get().booking_epoch == 1
    assert SkippedToken.objects.count() == 2
    return sweep


def awaiting_finality_below_a_head() -> Sweep:
    tx = completed()
    assert WatchedBlock.objects.update(head_number=10**12) == 1
    return tx.sweep


def accepted_and_older_and_newer_candidates() -> Sweep:
    sweep = SweepFactory.create()
    tx = SweepTransactionFactory.create_batch(3, sweep=sweep)[1]
    settle(sweep_id=sweep.id, reading=evm_reading(executed_receipt(tx)))
    return sweep


def executed_by_the_second_of_two() -> Sweep:
    sweep = V4SweepFactory.create()
    first, second = SweepTransactionFactory.create_batch(2, sweep=sweep)
    SweepTransaction.objects.filter(id=first.id).update(status="reverted", reason=HOSTILE, gas_used=2**40)
    settle(sweep_id=sweep.id, reading=evm_reading(executed_receipt(second)))
    return sweep


def hostile_texts() -> Sweep:
    sweep = SweepFactory.create(client_reference=HOSTILE, output_symbol=HOSTILE[:32], last_error=HOSTILE)
    SweepTransactionFactory.create(sweep=sweep, status="rejected", reason=HOSTILE, block_number=2**62, block_hash="b")
    note(sweep, EventKind.REJECTED, tx_hash=random_hash(), reason=HOSTILE)
    note(sweep, EventKind.SKIPPED, reason="no token is named", unknown=HOSTILE)
    note(sweep, EventKind.ACCEPTED, block=2**62)
    return sweep


def offered_twice() -> Sweep:
    sweep = SweepFactory.create()
    OfferFactory.create(sweep=sweep, sequence=2, expected_gross=UINT256)
    return sweep


def without_microseconds() -> Sweep:
    sweep = SweepFactory.create()
    at = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
    shortened = at + timedelta(microseconds=100_000)
    Sweep.objects.filter(id=sweep.id).update(created_at=at, next_check_at=shortened, last_checked_at=at)
    return sweep


def voided() -> Sweep:
    return void(sweep_id=SweepFactory.create().id, reason=HOSTILE, requested_by="ops")


def adopted() -> Sweep:
    """A completed sweep without the terms of an offer, as it is stored from its event."""
    sweep = completed().sweep
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM sweeps_offer WHERE sweep_id = %s", [sweep.id])
        cursor.execute("DELETE FROM evm_permit WHERE sweep_id = %s", [sweep.id])
        cursor.execute("DELETE FROM sweeps_sweeptoken WHERE sweep_id = %s", [sweep.id])
        cursor.execute("SET session_replication_role = DEFAULT")
    terms = dict.fromkeys(("slippage_bps", "total_fee_bps", "partner_share_bps", "min_gross", "deadline"))
    closed = {"is_open": False, "closed_at": timezone.now(), "watched_block": None, "next_check_at": None}
    Sweep.objects.filter(id=sweep.id).update(flags=["adopted"], **closed, **terms)
    return sweep


def partly_landed() -> Sweep:
    sweep = SolanaSweepFactory.create(
        status="completed", completed_at=timezone.now(), flags=["partial"], execution=None, client_reference="ours"
    )
    amounts = FeeRates(sweep.total_fee_bps, sweep.partner_share_bps).split(UINT256 // 2)
    for position in (2, 1, 0):
        landed = SolanaExecutionFactory.create(sweep=sweep, position=position, status="executed", **vars(amounts))
        SweepTransactionFactory.create_batch(2, sweep=sweep, execution=landed, reason=HOSTILE)
        SweepTransactionFactory.create(
            sweep=sweep,
            execution=landed,
            tx_hash=random_signature(),
            status="accepted",
            source="discovered",
            block_number=400,
            block_hash=random_signature(),
            confirmed_at=timezone.now(),
        )
        SweepTransactionFactory.create(sweep=sweep, execution=landed)
    SolanaExecutionFactory.create(sweep=sweep, position=3, status="expired", closed_at=timezone.now())
    return sweep


def test_a_token_is_shown_as_swept_skipped_for_a_reason_or_dropped() -> None:
    tokens = shown(left_out())["tokens"]
    outcomes = [(token["outcome"], token["skipReason"]) for token in tokens]
    assert outcomes == [("swept", None), ("dropped", None), ("skipped", "not_filled")]
    assert (tokens[1]["symbol"], tokens[1]["amount"], tokens[1]["decimals"]) == (HOSTILE[:20], str(UINT256), 255)


def test_after_a_reversal_no_token_has_an_outcome() -> None:
    state = shown(left_out_and_reversed())
    assert ([token["outcome"] for token in state["tokens"]], state["skippedCount"]) == ([None] * 3, 0)


def test_confirmations_are_counted_up_to_the_head_of_the_last_check_of_the_block() -> None:
    sweep = awaiting_finality_below_a_head()
    state = shown(sweep)["transaction"]
    assert state["confirmations"] == 10**12 - state["blockNumber"] + 1


def test_the_accepted_transaction_is_shown_before_newer_ones_and_otherwise_the_newest() -> None:
    sweep = accepted_and_older_and_newer_candidates()
    assert shown(sweep)["transaction"]["txHash"] == sweep.transactions.get(status="accepted").tx_hash
    pending = SweepTransactionFactory.create_batch(2, sweep=SweepFactory.create())[-1]
    assert shown(pending.sweep)["transaction"]["txHash"] == pending.tx_hash


def test_a_reverted_transaction_is_listed_with_its_reason_beside_the_one_that_executed() -> None:
    first, second = shown(executed_by_the_second_of_two())["transactions"]
    assert (first["status"], first["reason"], first["gasUsed"]) == ("reverted", HOSTILE, str(2**40))
    assert second["status"] == "accepted"


def test_hostile_texts_are_shown_as_they_are() -> None:
    state = shown(hostile_texts())
    assert (state["clientReference"], state["outputSymbol"]) == (HOSTILE, HOSTILE[:32])
    assert state["feeAuthorization"]["lastError"] == HOSTILE
    (tx,) = state["transactions"]
    assert (tx["reason"], tx["blockNumber"], tx["blockHash"]) == (HOSTILE, 2**62, "b")


def test_expected_fees_are_those_of_the_newest_offer() -> None:
    assert shown(offered_twice())["feeAuthorization"]["expectedFees"]["grossOutput"] == str(UINT256)


def test_times_have_microseconds_only_where_there_are_any() -> None:
    state = shown(without_microseconds())
    assert state["createdAt"] == "2026-01-31T12:00:00Z"
    assert state["feeAuthorization"]["nextCheckAt"] == "2026-01-31T12:00:00.100000Z"


def test_a_void_sweep_is_open_while_it_may_still_be_executed() -> None:
    state = shown(voided())
    assert (state["status"], state["open"]) == ("void", True)


def test_an_adopted_sweep_has_no_terms_of_an_offer() -> None:
    state = shown(adopted())
    authorization = state["feeAuthorization"]
    nulls = ("deadline", "totalFeeBps", "partnerShareBps", "expectedFees")
    assert ([authorization[name] for name in nulls], state["expiresAt"], state["tokens"]) == ([None] * 4, None, [])
    assert authorization["actualFees"] is not None


def test_each_transaction_on_solana_is_an_execution_with_its_tokens_and_what_became_of_it() -> None:
    sweep = partly_landed()
    executions = shown(sweep)["operations"]
    assert [one["status"] for one in executions] == ["executed"] * 3 + ["expired"]
    accepted = {tx.execution.execution_id: tx.tx_hash for tx in sweep.transactions.filter(status="accepted")}
    assert {one["id"]: one["txHash"] for one in executions[:3]} == accepted
    assert (executions[3]["txHash"], executions[3]["reason"]) == (None, "")


def test_a_sweep_on_a_chain_that_the_file_no_longer_names_is_shown_by_its_network() -> None:
    assert shown(completed(network="eip155:424242").sweep)["chain"] == "eip155:424242"


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_answer_is_the_documented_one(api: Client, partner: Partner, version: str) -> None:
    sweep = completed(V4SweepFactory, partner=partner).sweep
    response = api.get(f"/{version}/sweep/status/{sweep.id}")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert_documented(response, path=f"/{version}/sweep/status/{{sweep_id}}")


def test_a_sweep_of_another_partner_mode_or_rail_is_not_found() -> None:
    sweep = V4SweepFactory.create()
    ours = Requester("", "", sweep.partner_id, mode_of(sweep.network), frozenset())
    assert read_snapshot(ours, sweep.id, rails=V1_RAILS)["id"] == str(sweep.id)
    other_mode = Mode.LIVE if ours.mode is Mode.TEST else Mode.TEST
    for requester, sweep_id, rails in (
        (replace(ours, partner_id=PartnerFactory.create().id), sweep.id, V1_RAILS),
        (replace(ours, mode=other_mode), sweep.id, V1_RAILS),
        (ours, uuid4(), V1_RAILS),
        (ours, sweep.id, ["evm_v5"]),
    ):
        with pytest.raises(SweepNotFound):
            read_snapshot(requester, sweep_id, rails=rails)


def queries_for(api: Client, path: str, **body: Any) -> int:
    with CaptureQueriesContext(connection) as queries:
        response = api.post(path, body, content_type="application/json") if body else api.get(path)
    assert response.status_code == 200, response.content
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_tokens_entries_candidates_and_events(
    api: Client, partner: Partner
) -> None:
    small, large = completed(partner=partner).sweep, SweepFactory.create(partner=partner)
    for position in range(1, 30):
        SweepTokenFactory.create(sweep=large, position=position)
    for tx in SweepTransactionFactory.create_batch(10, sweep=large):
        note(large, EventKind.REPORTED, tx_hash=tx.tx_hash)
    status = "/v2/sweep/status/{}"
    queries_for(api, status.format(small.id))  # the first request of a key records that it is used
    assert SweepToken.objects.filter(sweep=large).count() == 30
    assert queries_for(api, status.format(small.id)) == queries_for(api, status.format(large.id))


def test_a_hash_that_executed_its_sweep_is_confirmed_again_as_fast_as_a_status_is_read(
    api: Client, partner: Partner
) -> None:
    tx = completed(partner=partner)
    path = f"/v2/sweep/status/{tx.sweep.id}"
    queries_for(api, path)
    before = Sweep.objects.get(id=tx.sweep.id).version
    assert queries_for(api, f"{path}/confirm", txHash=tx.tx_hash) == queries_for(api, path)
    assert Sweep.objects.get(id=tx.sweep.id).version == before
    repeated = api.post(f"{path}/confirm", {"txHash": tx.tx_hash}, content_type="application/json")
    assert json.loads(repeated.content) == api.get(path).json()
