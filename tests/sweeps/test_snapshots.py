"""What one statement reads of a sweep is shown as its serializers describe it, byte for byte.

Random stories and the partner's app of other tests compare it at each of their steps; here are the values that those
don't have.
"""

import json
import random
from collections.abc import Callable
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
from sweepapi.fees import split
from sweepapi.modes import Mode, mode_of
from sweeps.models import EventKind, SkippedToken, Sweep, SweepToken, SweepTransaction, WatchedBlock
from sweeps.rails.registry import V1_RAILS
from sweeps.shown.reading import read_snapshot
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.solana_sweeps import SolanaExecutionFactory, SolanaSweepFactory, random_signature
from tests.factories.sweeps import (
    LOCAL,
    OfferFactory,
    PermitFactory,
    SweepFactory,
    SweepTokenFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    block_at,
    executed_log,
    executed_receipt,
    note,
    receipt_of,
    seen,
    skipped_log,
)
from tests.openapi import assert_documented
from tests.settling import settle
from tests.snapshots import assert_shown_as_described
from tests.sweeps.settle.looks import apply

pytestmark = pytest.mark.django_db

HOSTILE = '"\\/\b\f\n\r\t\x01\x1f\x7f é\u2028\u2029\ufeff😀</script>{block}%s'
UINT256 = 2**256 - 1


def completed(factory: type[SweepFactory] = SweepFactory, **facts: Any) -> SweepTransaction:
    """Return the transaction that executed a sweep."""
    tx = SweepTransactionFactory.create(sweep=factory.create(**facts))
    settle(sweep_id=tx.sweep.id, seen=seen(executed_receipt(tx)))
    return tx


def left_out() -> Sweep:
    sweep = SweepFactory.create(permit=None)
    PermitFactory.create(sweep=sweep, floors=[300_000] * 3, max_skipped=2)
    for position in (2, 1):
        SweepTokenFactory.create(sweep=sweep, position=position, symbol=HOSTILE[:20], amount=UINT256, decimals=255)
    tx = SweepTransactionFactory.create(sweep=sweep)
    logs = [skipped_log(sweep, 1, SkipReason.DROPPED), skipped_log(sweep, 2, SkipReason.NOT_FILLED)]
    return apply(sweep, seen(receipt_of(tx, *logs, executed_log(sweep))))


def left_out_and_reversed() -> Sweep:
    sweep = apply(left_out(), seen(head_number=101, canonical=block_at(100, fork=1)))
    assert sweep.executions.get().booking_epoch == 1
    assert SkippedToken.objects.count() == 2
    return sweep


def resting_below_a_head() -> Sweep:
    tx = completed()
    assert WatchedBlock.objects.update(head_number=10**12) == 1
    return tx.sweep


def accepted_and_older_and_newer_candidates() -> Sweep:
    sweep = SweepFactory.create()
    tx = SweepTransactionFactory.create_batch(3, sweep=sweep)[1]
    settle(sweep_id=sweep.id, seen=seen(executed_receipt(tx)))
    return sweep


def executed_by_the_second_of_two() -> Sweep:
    sweep = V4SweepFactory.create()
    first, second = SweepTransactionFactory.create_batch(2, sweep=sweep)
    SweepTransaction.objects.filter(id=first.id).update(status="reverted", reason=HOSTILE, gas_used=2**40)
    settle(sweep_id=sweep.id, seen=seen(executed_receipt(second)))
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
    amounts = split(UINT256 // 2, sweep.total_fee_bps, sweep.partner_share_bps)
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


SCENES: list[Callable[[], Sweep]] = [
    SweepFactory.create,
    lambda: V4SweepFactory.create(flags=["sweep_ref_used", "reorganised"]),
    SolanaSweepFactory.create,
    lambda: completed().sweep,
    lambda: completed(V4SweepFactory).sweep,
    lambda: completed(network=LOCAL, total_fee_bps=0).sweep,
    left_out,
    left_out_and_reversed,
    resting_below_a_head,
    accepted_and_older_and_newer_candidates,
    executed_by_the_second_of_two,
    hostile_texts,
    offered_twice,
    without_microseconds,
    voided,
    adopted,
    partly_landed,
]


@pytest.mark.parametrize("scene", SCENES)
def test_a_snapshot_is_shown_as_the_serializers_describe_it(scene: Callable[[], Sweep]) -> None:
    assert_shown_as_described(scene().id)


def test_a_sweep_on_a_chain_that_the_file_no_longer_names_is_shown() -> None:
    assert_shown_as_described(completed(network="eip155:424242").sweep.id)


@pytest.mark.parametrize("seed", range(20))
def test_random_values_are_shown_as_the_serializers_describe_them(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same values each time
    factory = chance.choice([SweepFactory, V4SweepFactory, SolanaSweepFactory])
    sweep = factory.create(
        client_reference=chance.choice(["", "order-1017"]),
        flags=chance.sample(["below_minimum", "nonce_used", "reorganised", "partial"], k=chance.randrange(4)),
        total_fee_bps=chance.randrange(10_001),
        partner_share_bps=chance.randrange(10_001),
        output_decimals=chance.randrange(256),
        check_attempts=chance.randrange(10**6),
        last_checked_at=random_time(chance),
        next_check_at=random_time(chance),
        last_error=chance.choice(["", HOSTILE]),
    )
    for position in range(1, chance.randrange(1, 30)):
        SweepTokenFactory.create(
            sweep=sweep, position=position, amount=chance.randint(1, UINT256), decimals=chance.randrange(256)
        )
    for _ in range(chance.randrange(5)):
        SweepTransactionFactory.create(
            sweep=sweep,
            status=chance.choice(["submitted", "reverted", "rejected", "replaced", "dropped", "displaced"]),
            finality=chance.choice(["none", "included", "safe", "final"]),
            block_number=chance.choice([None, chance.randrange(2**62)]),
            confirmations=chance.randrange(2**40),
            gas_used=chance.choice([None, chance.randrange(2**62)]),
            submitted_at=random_time(chance),
        )
    for kind in chance.choices([kind for kind in EventKind if kind != EventKind.STATUS], k=10):
        note(sweep, kind, tx_hash=chance.choice([None, random_hash()]), block=chance.randrange(100), reason=HOSTILE)
    sweep.save(update_fields=["last_event"])
    assert_shown_as_described(sweep.id)


def random_time(chance: random.Random) -> datetime:
    """Return a time with microseconds that end in any number of zeros."""
    micros = chance.randrange(10**6) // 10 ** (zeros := chance.randrange(7)) * 10**zeros
    return datetime.fromtimestamp(chance.randrange(2**31), UTC).replace(microsecond=micros)


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
