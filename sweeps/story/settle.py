"""Applies what rails have seen: the only place where what was seen of sweeps on chain changes them.

``settle_together`` settles any number of sweeps in one transaction without I/O, so that status, candidates, journal
entries, events and the time of the next look change together or not at all. Each is judged as it was read for the look,
before the transaction. Under the lock its version and its lease are compared: what changed meanwhile is read and judged
again. ``settle`` does so for sweeps that must not harm each other: if a transaction fails, each is settled alone.
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

from ledger import posting
from sweepapi.monitoring import metrics
from sweeps.models import SweepStatus, SweepTransaction
from sweeps.protocol.rail import Mismatch, Outlook, TransactionVerdict, Verdict
from sweeps.rails.registry import RAILS
from sweeps.store import reading
from sweeps.store.reading import ReadMark
from sweeps.store.stored import BlockId, StoredSweep
from sweeps.store.writing import write
from sweeps.story.apply import apply, outlook_of, postpone
from sweeps.story.executions import fee_of
from sweeps.story.reopening import open_executed

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Settled:
    """The sweep after settling, and what the look showed of its transactions, by hash."""

    stored: StoredSweep
    verdicts: Mapping[str, TransactionVerdict] = field(default_factory=dict)

    @property
    def awaits_receipt(self) -> bool:
        is_pending = self.stored.sweep.status == SweepStatus.PENDING
        return is_pending and any(tx.is_live for tx in self.stored.candidates)

    def mismatches(self, tx_hash: str) -> Sequence[Mismatch]:
        """Return why a transaction was rejected by this look; empty if another look judged it."""
        verdict = self.verdicts.get(tx_hash)
        return verdict.mismatches if verdict is not None else ()


@dataclass(frozen=True)
class Watching:
    """A sweep as it was read for a look, and what its rail watched of it."""

    stored: StoredSweep
    watched: Any


@dataclass(frozen=True)
class Look:
    """What a rail saw of a sweep."""

    sweep_id: UUID
    seen: Any  # None if no provider answered
    watching: Watching | None = None  # None if the sweep was not read for it
    # Makes the caller's own changes to the sweep, as they were made to the one that was read for the look. If it
    # returns False, the sweep is decided, and nothing is stored.
    record: Callable[[StoredSweep], bool] | None = None


@dataclass(frozen=True)
class SettlementOutcome:
    """What became of many looks."""

    settled: list[Settled] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)  # of sweeps that could not be settled; logged

    def raise_errors(self) -> None:
        if self.errors:
            raise ExceptionGroup("not everything could be settled", self.errors)


@dataclass(frozen=True)
class _Judged:
    """A look with the verdict about it."""

    look: Look
    stored: StoredSweep
    verdict: Verdict | None = None  # None if no provider answered
    is_decided: bool = False  # by what happened since it was read, so that nothing is applied


def watch(sweeps: Iterable[StoredSweep]) -> Iterator[Watching]:
    """Yield what the rails watch of sweeps, rail by rail."""
    of_rail = attrgetter("sweep.rail")
    for rail, group in groupby(sorted(sweeps, key=of_rail), key=of_rail):
        watched = list(group)
        yield from map(Watching, watched, RAILS[rail].watch(watched))


def settle(looks: Sequence[Look], *, lease: UUID | None = None) -> SettlementOutcome:
    """Apply what was seen of sweeps, each at most once among the looks.

    With a ``lease``, those that no longer carry it are left out: another check took them over. A sweep that can't be
    settled harms no other and keeps its lease. Raises only if the database is gone.
    """
    outcome = SettlementOutcome()
    try:
        outcome.settled.extend(settle_together(looks, lease=lease))
    except Exception as error:
        if len(looks) == 1:
            log.exception("settling_failed", sweep_id=str(looks[0].sweep_id))
            if not connection.is_usable():
                raise
            outcome.errors.append(error)
            return outcome
        log.warning("settling_one_by_one", sweeps=len(looks), exc_info=True)
        for look in looks:
            alone = settle([Look(look.sweep_id, look.seen)], lease=lease)
            outcome.settled.extend(alone.settled)
            outcome.errors.extend(alone.errors)
    return outcome


@metrics.SETTLE_SECONDS.time()
def settle_together(looks: Sequence[Look], *, lease: UUID | None = None) -> list[Settled]:
    """Do what ``settle`` does in one transaction, or raise.

    What was seen may be older than the row: only evidence about its block undoes an execution that was accepted
    meanwhile. Without a lease, that of a check which is under way stays, so that its look is not lost.
    """
    judged = list(_judged(looks))
    if len(judged) > 1:  # before the transaction, so that no set is locked while another session stores the same ones
        posting.open_accounts(list(_fees(judged)))
    with transaction.atomic():
        settled = [_apply(one, lease) for one in _current(judged, lease)]
        write([one.stored for one in settled])
    return settled


def store_report(sweep_id: UUID, record: Callable[[StoredSweep], bool]) -> None:
    """Store a report whose look, or what was to be made of it, failed; the worker looks again."""
    with transaction.atomic():
        stored = reading.lock_one(sweep_id)
        if record(stored):
            write([stored])


def _judged(looks: Sequence[Look]) -> Iterator[_Judged]:
    """Judge what was seen; sweeps that were not read for it are read now."""
    unread = [look.sweep_id for look in looks if look.watching is None]
    read = {one.stored.id: one for one in watch(reading.read(unread).values())}
    return (_judge(look, look.watching or read[look.sweep_id]) for look in looks)


def _judge(look: Look, watching: Watching) -> _Judged:
    stored = watching.stored
    verdict = None if look.seen is None else RAILS[stored.sweep.rail].judge(watching.watched, look.seen)
    return _Judged(look, stored, verdict)


def _current(judged: Sequence[_Judged], lease: UUID | None) -> Iterator[_Judged]:
    """Lock the sweeps and yield them by partner, whom to reverse a fee locks, too; what changed is judged again."""
    locked = reading.lock([one.stored.id for one in judged])
    held = []
    for one in judged:
        if lease in (None, locked[one.stored.id].mark.lease):
            held.append(one)
        else:
            log.info("lease_lost", sweep_id=str(one.stored.id))
    changed = [one.stored.id for one in held if ReadMark.of(one.stored.sweep) != locked[one.stored.id].mark]
    fresh = reading.read(changed)
    for one in sorted(held, key=attrgetter("stored.sweep.partner_id", "stored.id")):
        if one.stored.id in fresh:
            yield _judge_again(one.look, fresh[one.stored.id])
        else:
            lock = locked[one.stored.id]
            one.stored.hold(now=lock.at, lease_until=lock.lease_until)
            yield one


def _judge_again(look: Look, stored: StoredSweep) -> _Judged:
    if look.record is not None and not look.record(stored):
        return _Judged(look, stored, is_decided=True)
    (watching,) = watch([stored])
    return _judge(look, watching)


def _fees(judged: Iterable[_Judged]) -> Iterator[posting.SweepFee]:
    """Yield the fees that may be booked, to know their accounts."""
    for one in judged:
        if one.verdict is None:
            continue
        for execution in one.stored.executions:
            for tx in one.verdict.executions[execution.id].transactions:
                if tx.executed is not None:
                    yield fee_of(one.stored.sweep, execution, tx.tx_hash, tx.executed.amounts)


def _apply(judged: _Judged, lease: UUID | None) -> Settled:
    stored, verdict, sweep = judged.stored, judged.verdict, judged.stored.sweep
    if judged.is_decided:
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
    outlook = outlook_of(stored)
    at = RAILS[sweep.rail].next_look(outlook, verdict)
    if at is None:
        _rest(stored, verdict)
    else:
        sweep.next_check_at = at if lease is not None else _not_put_off(stored, outlook, at)


def _rest(stored: StoredSweep, verdict: Verdict) -> None:
    """Leave the next looks to the block of the only execution."""
    (execution,) = stored.executions
    (tx,) = (tx for tx in stored.candidates if tx.status == SweepTransaction.Status.ACCEPTED)
    head_number = verdict.executions[execution.id].head_number
    stored.rest(BlockId(stored.sweep.network, *tx.block), head_number=head_number)


def _not_put_off(stored: StoredSweep, outlook: Outlook, at: datetime) -> datetime:
    """Return the earlier of this time and the planned look for a receipt.

    Only the worker searches for an execution that was not reported, and partners may confirm again and again.
    """
    planned = stored.sweep.next_check_at
    if outlook.submitted_at is None or planned is None or planned <= outlook.now:
        return at
    return min(at, planned)
