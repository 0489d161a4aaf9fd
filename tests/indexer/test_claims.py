"""Claims of due sweeps: one holder at a time, none early, none forgotten."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from indexer import claims
from indexer.claims import Claim
from sweeps.models import Sweep
from tests.factories.sweeps import LOCAL, SweepFactory

pytestmark = pytest.mark.django_db

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def sweep_due_in(delay: timedelta, **facts: Any) -> Sweep:
    return SweepFactory.create(next_check_at=timezone.now() + delay, **facts)


def claimed_by_beat(clock: datetime | None = None) -> list[Sweep]:
    """Claim what one run of beat would at a time of the local chain's clock, by default long before any deadline."""
    run = claims.claim_due(clocks={LOCAL: clock or timezone.now() - HOUR})
    return [sweep for claim in run for sweep in claim.sweeps]


def test_a_due_sweep_is_leased_to_its_message() -> None:
    sweep = sweep_due_in(-MINUTE)
    claim = claims.claim_one(sweep.id)
    assert claim is not None
    assert claim.sweeps == [sweep]
    sweep.refresh_from_db()
    assert sweep.lease_token == claim.lease
    assert sweep.lease_until is not None
    assert timezone.now() < sweep.lease_until <= timezone.now() + claims.LEASE


def test_an_early_message_claims_nothing() -> None:
    assert claims.claim_one(sweep_due_in(MINUTE).id) is None


def test_a_message_for_a_leased_row_claims_nothing() -> None:
    sweep = sweep_due_in(-MINUTE)
    assert claims.claim_one(sweep.id) is not None
    assert claims.claim_one(sweep.id) is None
    assert claimed_by_beat() == []


def test_a_lease_that_was_not_released_expires() -> None:
    sweep = sweep_due_in(-MINUTE)
    first = claims.claim_one(sweep.id)
    Sweep.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    second = claims.claim_one(sweep.id)
    assert first is not None
    assert second is not None
    assert first.lease != second.lease


def test_a_closed_sweep_is_not_claimed() -> None:
    closed = SweepFactory.create(status="expired", is_open=False, closed_at=timezone.now(), next_check_at=None)
    assert claims.claim_one(closed.id) is None
    assert claimed_by_beat(timezone.now() + timedelta(days=10)) == []


def test_beat_claims_only_rows_whose_message_did_not_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "MESSAGE_GRACE", timedelta(seconds=30))
    late, later = sweep_due_in(-MINUTE), sweep_due_in(-2 * MINUTE)
    sweep_due_in(-timedelta(seconds=1))  # its message may still come
    sweep_due_in(MINUTE)
    assert {sweep.id for sweep in claimed_by_beat()} == {late.id, later.id}
    assert claimed_by_beat() == []


def test_beat_claims_batches_of_the_rows_that_wait_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 2)
    delays = [timedelta(minutes=-3), timedelta(minutes=-1), timedelta(minutes=-2)]
    oldest, youngest, middle = (sweep_due_in(delay) for delay in delays)
    batches = [{sweep.id for sweep in claim.sweeps} for claim in claims.claim_due(clocks={})]
    assert batches == [{oldest.id, middle.id}, {youngest.id}]


def test_the_chains_clock_makes_an_unsubmitted_sweep_due() -> None:
    sweep = sweep_due_in(HOUR)
    assert claimed_by_beat(sweep.deadline) == []
    assert claimed_by_beat(sweep.deadline + timedelta(seconds=1)) == [sweep]


def test_the_clock_of_another_network_does_not_make_a_sweep_due() -> None:
    sweep = sweep_due_in(HOUR)
    assert not list(claims.claim_due(clocks={"eip155:1": sweep.deadline + HOUR}))


def test_a_sweep_that_was_just_checked_is_not_claimed_before_its_time() -> None:
    sweep = sweep_due_in(MINUTE)
    assert claimed_by_beat(sweep.deadline + HOUR) == []


@pytest.mark.parametrize("due_in", [-MINUTE, HOUR])
def test_a_run_claims_no_sweep_twice_even_if_a_look_changes_nothing(
    due_in: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 1)
    expected = {sweep_due_in(due_in).id for _ in range(2)}
    taken = []
    for claim in islice(claims.claim_due(clocks={LOCAL: timezone.now() + HOUR}), 5):
        rows = Sweep.objects.filter(id__in=[sweep.id for sweep in claim.sweeps])
        taken += [sweep.id for sweep in rows]
        rows.update(lease_token=None, lease_until=None)
        rows.filter(next_check_at__lt=timezone.now()).update(next_check_at=timezone.now())
    assert sorted(taken) == sorted(expected)


def test_a_run_leaves_a_sweep_whose_lease_expired_to_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "LEASE", timedelta(0))
    sweep = sweep_due_in(-MINUTE)
    assert claimed_by_beat() == [sweep]
    assert claimed_by_beat() == [sweep]


def test_claiming_reads_one_table_by_its_index_of_what_is_due() -> None:
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as captured:
        assert claimed_by_beat(timezone.now()) == []
        [select] = [query["sql"] for query in captured if query["sql"].startswith("SELECT")]
        cursor.execute("SET LOCAL enable_seqscan = off")  # a table this small is read whole otherwise
        cursor.execute(f"EXPLAIN {select}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "JOIN" not in select
    assert re.search(r"Index Scan (using|on) sweep_due", plan)


@pytest.mark.parametrize(("seconds_ahead", "selects"), [(0, 1), (290, 1), (310, 2)])
def test_deadlines_are_read_only_where_the_chains_clock_is_ahead_of_the_longest_delay(
    seconds_ahead: int, selects: int
) -> None:
    with CaptureQueriesContext(connection) as captured:
        claimed_by_beat(timezone.now() + timedelta(seconds=seconds_ahead))
    assert sum(query["sql"].startswith("SELECT") for query in captured) == selects


@pytest.mark.usefixtures("two_chains")
def test_the_networks_to_read_are_those_with_open_sweeps() -> None:
    SweepFactory.create_batch(2, network="eip155:8453")
    closed = {"status": "failed", "is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    SweepFactory.create(network="eip155:42161", **closed)
    assert claims.open_networks() == [("evm_v5", "eip155:8453")]


def test_a_sweep_on_a_network_missing_from_the_chains_file_is_logged_and_not_claimed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lost, known = sweep_due_in(-MINUTE, network="eip155:999"), sweep_due_in(-MINUTE)
    assert claims.open_networks() == [("evm_v5", LOCAL)]
    assert "open_sweeps_on_unknown_networks" in caplog.text
    assert "eip155:999" in caplog.text
    assert claims.claim_one(lost.id) is None
    assert claimed_by_beat(lost.deadline + HOUR) == [known]
    lost.refresh_from_db()
    assert lost.lease_token is None


def test_a_sweep_of_a_rail_that_this_release_lacks_is_logged_and_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    lost, known = sweep_due_in(-MINUTE, rail="evm_v9"), sweep_due_in(-MINUTE)
    assert claims.open_networks() == [("evm_v5", LOCAL)]
    assert f"evm_v9 on {LOCAL}" in caplog.text
    assert claims.claim_one(lost.id) is None
    assert claimed_by_beat() == [known]


@pytest.mark.django_db(transaction=True)
def test_one_of_many_concurrent_claims_wins() -> None:
    sweep = sweep_due_in(-MINUTE)
    at_once = Barrier(6)

    def claim(_number: int) -> Claim | None:
        try:
            at_once.wait()
            return claims.claim_one(sweep.id)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        won = [claim for claim in threads.map(claim, range(6)) if claim is not None]
    assert len(won) == 1
