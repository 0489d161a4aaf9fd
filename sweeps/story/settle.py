"""Applies what rails have seen: the only place where facts from the chain change a sweep.

``settle`` has the rail judge what was seen and applies the verdict under the row's lock, in one transaction without any
I/O: status, candidates, journal entries, events and the time of the next look change together or not at all.
``settle_reported``, which confirm calls, does so by the row as it was read for the look, unless that changed meanwhile.
``settle_all`` does the same for many sweeps in one transaction, in as many statements as for one: it judges
by the rows as they were read for the look, and writes where they are unchanged. The others are settled one by one, as
are those whose settling needs to read more, and all of them if their transaction fails.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from ledger import posting
from sweepapi.monitoring import metrics
from sweeps.models import Execution, Flag, Sweep, SweepStatus, SweepTransaction
from sweeps.protocol.rail import Depth, Ending, Mismatch, Outlook, TransactionVerdict, Verdict
from sweeps.rails.registry import RAILS
from sweeps.store.changes import Changes, ReadMark, lock_all, lock_one
from sweeps.store.resting import BlockId
from sweeps.story.apply import apply, postpone
from sweeps.story.executions import fee_of
from sweeps.story.reopening import open_executed

log = structlog.get_logger(__name__)


class LeaseLostError(Exception):
    """Another check took over the row while this one looked at the chain."""


@dataclass(frozen=True)
class Settled:
    """The sweep after settling, and what the look showed of its transactions, by hash."""

    sweep: Sweep
    verdicts: Mapping[str, TransactionVerdict] = field(default_factory=dict)
    awaits_receipt: bool = False

    def mismatches(self, tx_hash: str) -> Sequence[Mismatch]:
        """Return why a transaction was rejected by this look; empty if another look judged it."""
        verdict = self.verdicts.get(tx_hash)
        return verdict.mismatches if verdict is not None else ()


@dataclass(frozen=True)
class Look:
    """A sweep as it was read for a look, with what its rail watched and saw."""

    sweep: Sweep
    watched: Any
    seen: Any  # None if no provider answered


@dataclass(frozen=True)
class SettlementOutcome:
    """What became of many looks."""

    settled: list[Settled] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)  # of sweeps that could not be settled; logged

    def raise_errors(self) -> None:
        if self.errors:
            raise ExceptionGroup("not everything could be settled", self.errors)


@metrics.SETTLE_SECONDS.time()
def settle(*, sweep_id: UUID, seen: Any, lease: UUID | None = None) -> Settled:  # noqa: ANN401 - the rail's own words
    """Apply what was seen of a sweep and return the result.

    With a ``lease`` it raises ``LeaseLostError`` and writes nothing unless the row still carries that lease. What was
    seen may be older than the row: only evidence about its block undoes an execution that was accepted meanwhile.
    Without a lease, that of a check which is under way stays, so that its look is not lost.
    """
    with transaction.atomic():
        sweep, changes = lock_one(sweep_id)
        if lease is not None and sweep.lease_token != lease:
            raise LeaseLostError
        (watched,) = RAILS[sweep.rail].watch([sweep])
        look = Look(sweep, watched, seen)
        settled = _apply(changes, look, _judge(look), lease)
        changes.write()
    return settled


@metrics.SETTLE_SECONDS.time()
def settle_reported(look: Look, changes: Changes, record: Callable[[Sweep, Changes], bool]) -> Settled:
    """Store a report, which is these changes of the sweep as it was read, and apply what the look showed.

    If the sweep changed since it was read, or if more of it is needed, it is read again under the lock, and ``record``
    makes the changes again. If that returns False, the sweep is decided and nothing is stored.
    """
    sweep, verdict = look.sweep, _judge(look)
    with transaction.atomic():
        marks, locked = lock_all([sweep])
        changes.now = locked.now
        if marks[sweep.id] != ReadMark.of(sweep) or not _is_plain(sweep, verdict):
            sweep, changes = lock_one(sweep.id)
            if not record(sweep, changes):
                return Settled(sweep)
            (watched,) = RAILS[sweep.rail].watch([sweep])
            look = Look(sweep, watched, look.seen)
            verdict = _judge(look)
        settled = _apply(changes, look, verdict, None)
        changes.write()
    return settled


def store_report(sweep_id: UUID, record: Callable[[Sweep, Changes], bool]) -> None:
    """Store a report whose look, or what was to be made of it, failed; the worker looks again."""
    with transaction.atomic():
        sweep, changes = lock_one(sweep_id)
        if record(sweep, changes):
            changes.write()


def settle_all(looks: Sequence[Look], *, lease: UUID | None = None) -> SettlementOutcome:
    """Apply what was seen of many sweeps, each at most once among the looks, as ``settle`` does for one.

    A sweep that can't be settled harms no other and keeps its lease. Raises only if the database is gone.
    """
    return _settle_together(lambda: looks, {look.sweep.id: look.seen for look in looks}, lease)


def settle_found(found: Mapping[UUID, Any]) -> SettlementOutcome:
    """Apply what was seen of many sweeps, by their ids, that were not read for it; otherwise as ``settle_all``."""
    return _settle_together(partial(_read, found), found, None)


def _read(found: Mapping[UUID, Any]) -> list[Look]:
    looks = []
    for rail, group in groupby(Sweep.objects.filter(id__in=found).order_by("rail"), key=attrgetter("rail")):
        sweeps = list(group)
        watched = RAILS[rail].watch(sweeps)
        looks += [Look(sweep, one, found[sweep.id]) for sweep, one in zip(sweeps, watched, strict=True)]
    return looks


def _settle_together(
    looks: Callable[[], Sequence[Look]], seen: Mapping[UUID, Any], lease: UUID | None
) -> SettlementOutcome:
    outcome = SettlementOutcome()
    if not seen:
        return outcome
    try:
        outcome.settled.extend(_settle_unchanged(looks(), lease))
    except Exception:
        log.warning("settling_one_by_one", sweeps=len(seen), exc_info=True)
    done = {settled.sweep.id for settled in outcome.settled}
    for sweep_id, one in seen.items():
        if sweep_id not in done:
            _settle_alone(sweep_id, one, lease, outcome)
    return outcome


def _settle_alone(sweep_id: UUID, seen: Any, lease: UUID | None, outcome: SettlementOutcome) -> None:  # noqa: ANN401 - the rail's
    try:
        outcome.settled.append(settle(sweep_id=sweep_id, seen=seen, lease=lease))
    except LeaseLostError:
        log.info("lease_lost", sweep_id=str(sweep_id))
    except Exception as error:
        log.exception("settling_failed", sweep_id=str(sweep_id))
        if not connection.is_usable():
            raise
        outcome.errors.append(error)


@metrics.SETTLE_SECONDS.time()
def _settle_unchanged(looks: Sequence[Look], lease: UUID | None) -> list[Settled]:
    """Settle the sweeps that are as they were read, in one transaction, unless that needs to read more of them."""
    judged = [(look, verdict) for look in looks if _is_plain(look.sweep, verdict := _judge(look))]
    if not judged:
        return []
    posting.open_accounts(list(_fees(judged)))
    with transaction.atomic():
        marks, changes = lock_all([look.sweep for look, _ in judged])
        settled = [
            _apply(changes, look, verdict, lease)
            for look, verdict in judged
            if marks.get(look.sweep.id) == ReadMark.of(look.sweep) and lease in (None, look.sweep.lease_token)
        ]
        changes.write()
    return settled


def _judge(look: Look) -> Verdict | None:
    return None if look.seen is None else RAILS[look.sweep.rail].judge(look.watched, look.seen)


def _is_plain(sweep: Sweep, verdict: Verdict | None) -> bool:
    """Whether it can be settled by what was read for the look: nothing is opened, undone, cancelled, taken or owed."""
    if verdict is None:
        return sweep.is_open
    ends = {one.ended.ending for one in verdict.executions.values() if one.ended is not None}
    is_undone = any(one.accepted is Depth.GONE for one in verdict.executions.values())
    is_opened = verdict.is_final or not sweep.is_open
    return not is_opened and not is_undone and ends <= {Ending.RAN_OUT} and Flag.PARTNER_IN_DEBT not in sweep.flags


def _fees(judged: Sequence[tuple[Look, Verdict | None]]) -> Iterator[posting.SweepFee]:
    """Yield the fees that may be booked, to know their accounts."""
    for look, verdict in judged:
        if verdict is None:
            continue
        for execution in look.sweep.execution_list:
            for tx in verdict.executions[execution.id].transactions:
                if tx.executed is not None:
                    yield fee_of(look.sweep, execution, tx.tx_hash, tx.executed.amounts)


def _apply(changes: Changes, look: Look, verdict: Verdict | None, lease: UUID | None) -> Settled:
    sweep = look.sweep
    executions = sweep.execution_list
    if verdict is not None:
        open_executed(changes, sweep, executions, verdict)
    if not sweep.is_open:
        return Settled(sweep)
    if verdict is None:
        postpone(changes, sweep, is_planned=lease is None)
    else:
        outlook = apply(changes, sweep, executions, verdict)
        if sweep.is_open:
            at = RAILS[sweep.rail].next_look(outlook, verdict)
            if at is None:
                _rest(changes, sweep, executions, verdict)
            else:
                sweep.next_check_at = at if lease is not None else _not_put_off(sweep, outlook, at)
    if lease is not None or sweep.next_check_at is None:
        sweep.lease_token = sweep.lease_until = None
    by_hash = {tx.tx_hash: tx for one in verdict.executions.values() for tx in one.transactions} if verdict else {}
    return Settled(sweep, by_hash, awaits_receipt=_awaits_receipt(sweep, executions))


def _rest(changes: Changes, sweep: Sweep, executions: Sequence[Execution], verdict: Verdict) -> None:
    """Leave the next looks to the block of the only execution."""
    (execution,) = executions
    (tx,) = (tx for tx in execution.candidates if tx.status == SweepTransaction.Status.ACCEPTED)
    changes.rest(sweep, BlockId(sweep.network, *tx.block), head_number=verdict.executions[execution.id].head_number)


def _awaits_receipt(sweep: Sweep, executions: Sequence[Execution]) -> bool:
    candidates = (tx for execution in executions for tx in execution.candidates)
    return sweep.status == SweepStatus.PENDING and any(tx.is_live for tx in candidates)


def _not_put_off(sweep: Sweep, outlook: Outlook, at: datetime) -> datetime:
    """Return the earlier of this time and the planned look for a receipt.

    Only the worker searches for an execution that was not reported, and partners may confirm again and again.
    """
    planned = sweep.next_check_at
    if outlook.submitted_at is None or planned is None or planned <= outlook.now:
        return at
    return min(at, planned)
