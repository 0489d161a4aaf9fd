"""Applies what rails have read: the only place where what was read of sweeps on chain changes them.

``settle_together`` settles any number of sweeps in one transaction without I/O, so that status, candidates, journal
entries, events and the time of the next check change together or not at all. The rails decide before the transaction,
by each sweep as it was read for the check. Under the lock its version and its lease are compared: what changed
meanwhile is read and decided again. ``settle`` does so for sweeps that must not harm each other: if a transaction
fails, each is settled alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from ledger.entries import posting
from sweepapi.monitoring import metrics
from sweeps.models import SweepStatus, SweepTransaction
from sweeps.protocol.rail import Mismatch, SweepProgress, TransactionVerdict, Verdict
from sweeps.rails.registry import RAILS
from sweeps.store import reading
from sweeps.store.reading import ReadMark
from sweeps.store.stored import BlockId, StoredSweep
from sweeps.store.writing import write
from sweeps.story.apply import apply, postpone, progress_of
from sweeps.story.executions import fee_of
from sweeps.story.reopening import open_executed

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Settled:
    """The sweep after settling, and what the check showed of its transactions, by hash."""

    stored: StoredSweep
    verdicts: Mapping[str, TransactionVerdict] = field(default_factory=dict)

    @property
    def awaits_receipt(self) -> bool:
        is_pending = self.stored.sweep.status == SweepStatus.PENDING
        return is_pending and any(tx.is_live for tx in self.stored.candidates)

    def mismatches(self, tx_hash: str) -> Sequence[Mismatch]:
        """Return why a transaction was rejected by this check; empty if another check decided about it."""
        verdict = self.verdicts.get(tx_hash)
        return verdict.mismatches if verdict is not None else ()


@dataclass(frozen=True)
class Followed:
    """A sweep as it was read for a check, and what its rail follows of it."""

    stored: StoredSweep
    by_rail: Any


@dataclass(frozen=True)
class SweepReading:
    """What a rail read of a sweep on chain."""

    sweep_id: UUID
    answer: Any  # None if no provider answered
    followed: Followed | None = None  # None if the sweep was not read for it
    # Makes the caller's own changes to the sweep, as they were made to the one that was read for the check. If it
    # returns False, the sweep is decided, and nothing is stored.
    record: Callable[[StoredSweep], bool] | None = None


@dataclass(frozen=True)
class SettlementOutcome:
    """What became of many readings."""

    settled: list[Settled] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)  # of sweeps that could not be settled; logged

    def raise_errors(self) -> None:
        if self.errors:
            raise ExceptionGroup("not everything could be settled", self.errors)


@dataclass(frozen=True)
class _Decision:
    """A reading with the verdict about it."""

    reading: SweepReading
    stored: StoredSweep
    verdict: Verdict | None = None  # None if no provider answered
    is_overtaken: bool = False  # by what happened since it was read, so that nothing is applied


def follow(sweeps: Iterable[StoredSweep]) -> Iterator[Followed]:
    """Yield what the rails follow of sweeps, rail by rail."""
    of_rail = attrgetter("sweep.rail")
    for rail, group in groupby(sorted(sweeps, key=of_rail), key=of_rail):
        followed = list(group)
        yield from map(Followed, followed, RAILS[rail].follow(followed))


def settle(readings: Sequence[SweepReading], *, lease: UUID | None = None) -> SettlementOutcome:
    """Apply what was read of sweeps, each at most once among the readings.

    With a ``lease``, those that no longer carry it are left out: another check took them over. A sweep that can't be
    settled harms no other and keeps its lease. Raises only if the database is gone.
    """
    outcome = SettlementOutcome()
    try:
        outcome.settled.extend(settle_together(readings, lease=lease))
    except Exception as error:
        if len(readings) == 1:
            log.exception("settling_failed", sweep_id=str(readings[0].sweep_id))
            if not connection.is_usable():
                raise
            outcome.errors.append(error)
            return outcome
        log.warning("settling_one_by_one", sweeps=len(readings), exc_info=True)
        for one in readings:
            alone = settle([SweepReading(one.sweep_id, one.answer)], lease=lease)
            outcome.settled.extend(alone.settled)
            outcome.errors.extend(alone.errors)
    return outcome


@metrics.SETTLE_SECONDS.time()
def settle_together(readings: Sequence[SweepReading], *, lease: UUID | None = None) -> list[Settled]:
    """Do what ``settle`` does in one transaction, or raise.

    What was read may be older than the row: only evidence about its block undoes an execution that was accepted
    meanwhile. Without a lease, that of a check which is under way stays, so that its result is not lost.
    """
    decisions = list(_decisions(readings))
    if (
        len(decisions) > 1
    ):  # before the transaction, so that no set is locked while another session stores the same ones
        posting.open_accounts(list(_fees(decisions)))
    with transaction.atomic():
        settled = [_apply(one, lease) for one in _current(decisions, lease)]
        write([one.stored for one in settled])
    return settled


def store_report(sweep_id: UUID, record: Callable[[StoredSweep], bool]) -> None:
    """Store a report whose check failed, or could not be settled; the worker checks again."""
    with transaction.atomic():
        stored = reading.lock_one(sweep_id)
        if record(stored):
            write([stored])


def _decisions(readings: Sequence[SweepReading]) -> Iterator[_Decision]:
    """Decide about what was read; sweeps that were not read from the database for it are read now."""
    unread = [one.sweep_id for one in readings if one.followed is None]
    read = {one.stored.id: one for one in follow(reading.read(unread).values())}
    return (_decide(one, one.followed or read[one.sweep_id]) for one in readings)


def _decide(one: SweepReading, followed: Followed) -> _Decision:
    stored = followed.stored
    verdict = None if one.answer is None else RAILS[stored.sweep.rail].decide(followed.by_rail, one.answer)
    return _Decision(one, stored, verdict)


def _current(decisions: Sequence[_Decision], lease: UUID | None) -> Iterator[_Decision]:
    """Lock the sweeps and yield them by partner, whom to reverse a fee locks, too; what changed is decided again."""
    locked = reading.lock([one.stored.id for one in decisions])
    held = []
    for one in decisions:
        if lease in (None, locked[one.stored.id].mark.lease):
            held.append(one)
        else:
            log.info("lease_lost", sweep_id=str(one.stored.id))
    changed = [one.stored.id for one in held if ReadMark.of(one.stored.sweep) != locked[one.stored.id].mark]
    fresh = reading.read(changed)
    for one in sorted(held, key=attrgetter("stored.sweep.partner_id", "stored.id")):
        if one.stored.id in fresh:
            yield _decide_again(one.reading, fresh[one.stored.id])
        else:
            lock = locked[one.stored.id]
            one.stored.hold(now=lock.at, lease_until=lock.lease_until)
            yield one


def _decide_again(one: SweepReading, stored: StoredSweep) -> _Decision:
    if one.record is not None and not one.record(stored):
        return _Decision(one, stored, is_overtaken=True)
    (followed,) = follow([stored])
    return _decide(one, followed)


def _fees(decisions: Iterable[_Decision]) -> Iterator[posting.SweepFee]:
    """Yield the fees that may be booked, to know their accounts."""
    for one in decisions:
        if one.verdict is None:
            continue
        for execution in one.stored.executions:
            for tx in one.verdict.executions[execution.id].transactions:
                if tx.executed is not None:
                    yield fee_of(one.stored.sweep, execution, tx.tx_hash, tx.executed.amounts)


def _apply(decision: _Decision, lease: UUID | None) -> Settled:
    stored, verdict, sweep = decision.stored, decision.verdict, decision.stored.sweep
    if decision.is_overtaken:
        return Settled(stored)
    if verdict is not None:
        open_executed(stored, verdict)
    if not sweep.is_open:
        return Settled(stored)
    if verdict is None:
        postpone(stored, is_planned=lease is None)
    else:
        _check(stored, verdict, lease)
    if lease is not None or sweep.next_check_at is None:
        sweep.lease_token = sweep.lease_until = None
    by_hash = {tx.tx_hash: tx for one in verdict.executions.values() for tx in one.transactions} if verdict else {}
    return Settled(stored, by_hash)


def _check(stored: StoredSweep, verdict: Verdict, lease: UUID | None) -> None:
    """Apply the verdict of a check, and plan the next one."""
    sweep = stored.sweep
    sweep.last_error, sweep.watched_block_id = "", None
    sweep.check_attempts += 1
    sweep.last_checked_at = stored.now
    apply(stored, verdict)
    if not sweep.is_open:
        return
    progress = progress_of(stored)
    at = RAILS[sweep.rail].next_check(progress, verdict)
    if at is None:
        _await_finality(stored, verdict)
    else:
        sweep.next_check_at = at if lease is not None else _not_put_off(stored, progress, at)


def _await_finality(stored: StoredSweep, verdict: Verdict) -> None:
    """Leave the next checks to the block of the only execution."""
    (execution,) = stored.executions
    (tx,) = (tx for tx in stored.candidates if tx.status == SweepTransaction.Status.ACCEPTED)
    head_number = verdict.executions[execution.id].head_number
    stored.await_finality(BlockId(stored.sweep.network, *tx.block), head_number=head_number)


def _not_put_off(stored: StoredSweep, progress: SweepProgress, at: datetime) -> datetime:
    """Return the earlier of this time and the planned check for a receipt.

    Only the worker searches for an execution that was not reported, and partners may confirm again and again.
    """
    planned = stored.sweep.next_check_at
    if progress.submitted_at is None or planned is None or planned <= progress.now:
        return at
    return min(at, planned)
