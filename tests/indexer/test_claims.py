"""Claims of due sweeps: one holder at a time, none early, none forgotten."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from indexer import claims
from indexer.claims import SweepClaim
from indexer.leases import LEASE
from sweeps.models import Sweep
from tests.factories.sweeps import LOCAL, SweepFactory

pytestmark = pytest.mark.django_db

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def sweep_due_in(delay: timedelta, **facts: Any) -> Sweep:
    return SweepFactory.create(next_check_at=timezone.now() + delay, **facts)


def completed_and_due_in(delay: timedelta) -> Sweep:
    return sweep_due_in(delay, status="completed", completed_at=timezone.now(), execution=None, permit=None)


def ran_out_and_due_in(delay: timedelta) -> Sweep:
    return sweep_due_in(delay, deadline=timezone.now() + delay - HOUR)


def claimed() -> list[Sweep]:
    """Claim a batch of what is due."""
    claim = claims.claim_due()
    return claim.sweeps if claim is not None else []


def test_a_due_sweep_is_leased_to_its_message() -> None:
    sweep = sweep_due_in(-MINUTE)
    claim = claims.claim_one(sweep.id)
    assert claim is not None
    assert claim.sweeps == [sweep]
    sweep.refresh_from_db()
    assert sweep.lease_token == claim.lease
    assert sweep.lease_until is not None
    assert timezone.now() < sweep.lease_until <= timezone.now() + LEASE


def test_an_early_message_claims_nothing() -> None:
    assert claims.claim_one(sweep_due_in(MINUTE).id) is None


def test_a_message_for_a_leased_row_claims_nothing() -> None:
    sweep = sweep_due_in(-MINUTE)
    assert claims.claim_one(sweep.id) is not None
    assert claims.claim_one(sweep.id) is None
    assert claimed() == []


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
    assert claimed() == []


def test_a_batch_leaves_rows_that_wait_for_a_receipt_to_their_messages_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "MESSAGE_GRACE", timedelta(seconds=30))
    late, later = sweep_due_in(-MINUTE), sweep_due_in(-2 * MINUTE)
    sweep_due_in(-timedelta(seconds=1))  # its message may still come
    sweep_due_in(MINUTE)
    followed, ran_out = completed_and_due_in(-timedelta(seconds=1)), ran_out_and_due_in(-timedelta(seconds=1))
    assert {sweep.id for sweep in claimed()} == {late.id, later.id, followed.id, ran_out.id}
    assert claimed() == []


def test_batches_take_what_waits_for_a_receipt_then_what_is_followed_then_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 2)
    ran_out = [ran_out_and_due_in(-HOUR)]
    followed = [completed_and_due_in(-30 * MINUTE), completed_and_due_in(-20 * MINUTE)]
    awaited = [sweep_due_in(-3 * MINUTE), sweep_due_in(-2 * MINUTE), sweep_due_in(-MINUTE)]
    batches = [claimed() for _ in range(4)]
    assert batches == [awaited[:2], [followed[0], awaited[2]], [ran_out[0], followed[1]], []]


def test_a_row_under_a_lease_is_due_again_when_the_lease_ends() -> None:
    sweep = sweep_due_in(-MINUTE)
    assert claimed() == [sweep]
    Sweep.objects.update(next_check_at=timezone.now() - HOUR)  # as a cancellation does during the check
    assert claimed() == []
    Sweep.objects.update(lease_until=timezone.now() - MINUTE)
    assert claimed() == [sweep]


def test_the_backlog_counts_what_is_due_and_not_leased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 2)
    for due in (sweep_due_in, completed_and_due_in, ran_out_and_due_in):
        due(-MINUTE)
        due(MINUTE)
    backlog = claims.backlog()
    assert (backlog.rows, backlog.batches) == (3, 2)
    assert timedelta(seconds=59) < backlog.oldest < timedelta(seconds=90)
    assert len(claimed()) == 2
    assert claims.backlog().batches == 1


def test_no_batch_is_due_if_no_sweep_is() -> None:
    backlog = claims.backlog()
    assert (backlog.rows, backlog.batches, backlog.oldest) == (0, 0, timedelta(0))


# --- the clocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong_by", [-HOUR, HOUR])
def test_a_wrong_clock_of_this_host_makes_no_sweep_due_early_or_late(
    wrong_by: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    due, early = sweep_due_in(-MINUTE), sweep_due_in(MINUTE)
    wrong = timezone.now() + wrong_by
    monkeypatch.setattr(timezone, "now", lambda: wrong)
    assert claims.claim_one(early.id) is None
    assert claimed() == [due]
    due.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s - statement_timestamp()", [due.lease_until])
        (left,) = cursor.fetchone()
    assert LEASE - MINUTE < left <= LEASE


def test_the_chains_clock_makes_an_unsubmitted_sweep_due() -> None:
    sweep = sweep_due_in(HOUR)
    assert claims.make_run_out_due(LOCAL, sweep.deadline) == 0
    assert claims.make_run_out_due(LOCAL, sweep.deadline + timedelta(seconds=1)) == 1
    assert claimed() == [sweep]


def test_the_clock_of_another_network_does_not_make_a_sweep_due() -> None:
    sweep = sweep_due_in(HOUR)
    assert claims.make_run_out_due("eip155:1", sweep.deadline + HOUR) == 0


def test_a_sweep_that_was_just_checked_is_not_claimed_before_its_time() -> None:
    sweep = sweep_due_in(MINUTE)
    assert claims.make_run_out_due(LOCAL, sweep.deadline + HOUR) == 0
    assert claimed() == []


@pytest.mark.parametrize(("seconds_ahead", "updates"), [(0, 0), (290, 0), (310, 1)])
def test_deadlines_are_read_only_where_the_chains_clock_is_ahead_of_the_longest_delay(
    seconds_ahead: int, updates: int
) -> None:
    with CaptureQueriesContext(connection) as captured:
        claims.make_run_out_due(LOCAL, timezone.now() + timedelta(seconds=seconds_ahead))
    assert sum(query["sql"].startswith("UPDATE") for query in captured) == updates


@pytest.mark.usefixtures("two_chains")
def test_the_networks_whose_clocks_are_read_are_those_of_sweeps() -> None:
    SweepFactory.create_batch(2, network="eip155:8453")
    assert claims.networks_in_use() == [("evm_v5", "eip155:8453")]


# --- what this release does not know ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "name"), [({"network": "eip155:999"}, "evm_v5 on eip155:999"), ({"rail": "evm_v9"}, f"evm_v9 on {LOCAL}")]
)
def test_a_sweep_of_an_unknown_network_or_rail_is_logged_and_put_off(
    facts: dict[str, str], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    lost, known = sweep_due_in(-MINUTE, **facts), sweep_due_in(-MINUTE)
    assert claimed() == [known]
    assert "open_sweeps_on_unknown_networks" in caplog.text
    assert name in caplog.text
    lost.refresh_from_db()
    assert lost.lease_token is None
    assert lost.next_check_at is not None
    assert lost.next_check_at > timezone.now() + timedelta(minutes=4)


def test_a_message_about_a_sweep_of_an_unknown_network_claims_nothing() -> None:
    assert claims.claim_one(sweep_due_in(-MINUTE, network="eip155:999").id) is None


# --- the index --------------------------------------------------------------------------------------------------------


def test_a_claim_reads_the_index_of_what_is_due_in_its_order() -> None:
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as captured:
        assert claimed() == []
        [claim] = [query["sql"] for query in captured if "FOR UPDATE" in query["sql"]]
        cursor.execute("SET LOCAL enable_seqscan = off")  # a table this small is read whole otherwise
        cursor.execute(f"EXPLAIN {claim}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Scan using sweep_due_by_urgency" in plan
    assert "Sort" not in plan
    assert re.search(r"Index Cond: \(\(urgency = .* AND \(due_at <=", plan)


# --- several workers --------------------------------------------------------------------------------------------------


def at_the_same_time(claim: Callable[[], SweepClaim | None], *, times: int) -> list[SweepClaim]:
    """Claim in this many threads at once; returns what was won."""
    ready = Barrier(times)

    def run(_number: int) -> SweepClaim | None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '5s'")  # a claim that waits fails
            ready.wait()
            return claim()
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as threads:
        return [won for won in threads.map(run, range(times)) if won is not None]


@pytest.mark.django_db(transaction=True)
def test_one_of_many_concurrent_claims_wins() -> None:
    sweep = sweep_due_in(-MINUTE)
    assert len(at_the_same_time(lambda: claims.claim_one(sweep.id), times=6)) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_claims_of_batches_share_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BATCH_ROWS", 5)
    due = {sweep_due_in(-MINUTE).id for _ in range(20)}
    won = at_the_same_time(claims.claim_due, times=4)
    taken = [sweep.id for claim in won for sweep in claim.sweeps]
    assert len(taken) == len(set(taken))
    assert set(taken) <= due


@pytest.mark.django_db(transaction=True)
def test_a_claim_does_not_wait_for_a_row_that_another_transaction_locked() -> None:
    locked, free = sweep_due_in(-2 * MINUTE), sweep_due_in(-MINUTE)
    with transaction.atomic():
        Sweep.objects.select_for_update().get(id=locked.id)
        [won] = at_the_same_time(claims.claim_due, times=1)
    assert won.sweeps == [free]
