"""Applies what a rail has seen: the only place where facts from the chain change a sweep.

``settle`` has the rail judge what was seen and applies the verdict under the row's lock, in one transaction without any
I/O: status, candidates, journal entries, events and the time of the next look change together or not at all. Confirm
and the worker both call it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweepapi.monitoring import metrics
from sweeps import transitions
from sweeps.executions import ExecutionSettlement
from sweeps.models import Cause, Execution, Flag, Sweep, SweepStatus, SweepTransaction
from sweeps.rails.rail import Ended, Ending, Mismatch, Outlook, TransactionVerdict, Verdict
from sweeps.rails.registry import RAILS
from sweeps.reopening import open_executed

# Why the chain moves a sweep to each status.
_CAUSES = {
    SweepStatus.PENDING: Cause.REORGANISED,
    SweepStatus.COMPLETED: Cause.EXECUTED,
    SweepStatus.FAILED: Cause.REVERTED,
    SweepStatus.EXPIRED: Cause.RAN_OUT,
    SweepStatus.VOID: Cause.CANCELLED,
}
# The status of the transaction that decided for each status of the sweep.
_DECIDING = {
    SweepStatus.COMPLETED: SweepTransaction.Status.ACCEPTED,
    SweepStatus.FAILED: SweepTransaction.Status.REVERTED,
}


class LeaseLostError(Exception):
    """Another check took over the row while this one looked at the chain."""


@dataclass(frozen=True)
class Settled:
    """The sweep after settling, and what the look showed of its transactions, by hash."""

    sweep: Sweep
    verdicts: Mapping[str, TransactionVerdict] = field(default_factory=dict)

    def mismatches(self, tx_hash: str) -> Sequence[Mismatch]:
        """Return why a transaction was rejected by this look; empty if another look judged it."""
        verdict = self.verdicts.get(tx_hash)
        return verdict.mismatches if verdict is not None else ()


@metrics.SETTLE_SECONDS.time()
def settle(*, sweep_id: UUID, seen: Any, lease: UUID | None = None) -> Settled:  # noqa: ANN401 - the rail's own words
    """Apply what was seen of a sweep and return the result.

    With a ``lease`` it raises ``LeaseLostError`` and writes nothing unless the row still carries that lease. What was
    seen may be older than the row: only evidence about its block undoes an execution that was accepted meanwhile.
    Without a lease, that of a check which is under way stays, so that its look is not lost.
    """
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update(of=("self",)).select_related("partner").get(id=sweep_id)
        if lease is not None and sweep.lease_token != lease:
            raise LeaseLostError
        rail = RAILS[sweep.rail]
        (watched,) = rail.watch([sweep])
        verdict = rail.judge(watched, seen)
        executions = list(sweep.executions.all())
        open_executed(sweep, executions, verdict)
        if not sweep.is_open:
            return Settled(sweep)
        outlook = _apply(sweep, executions, verdict)
        if lease is not None or not sweep.is_open:
            sweep.lease_token = sweep.lease_until = None
        if sweep.is_open:
            at = rail.next_look(outlook, verdict)
            sweep.next_check_at = at if lease is not None else _not_put_off(sweep, outlook, at)
        sweep.save()
    return Settled(sweep, {tx.tx_hash: tx for one in verdict.executions.values() for tx in one.transactions})


def _apply(sweep: Sweep, executions: Sequence[Execution], verdict: Verdict) -> Outlook:
    sweep.last_error = ""
    settlements = [ExecutionSettlement(sweep, execution) for execution in executions]
    for settlement in settlements:
        if settlement.execution.closed_at is None:
            settlement.apply(verdict.executions[settlement.execution.id])
    candidates = [tx for settlement in settlements for tx in settlement.candidates]
    ended = [settlement.ended for settlement in settlements if settlement.ended is not None]
    _move(sweep, executions, candidates, ended)
    if all(execution.closed_at is not None for execution in executions):
        transitions.close(sweep)
    sweep.check_attempts += 1
    sweep.last_checked_at = timezone.now()
    return _outlook(sweep, executions, candidates)


def _not_put_off(sweep: Sweep, outlook: Outlook, at: datetime) -> datetime:
    """Return the earlier of this time and the planned look for a receipt.

    Only the worker searches for an execution that was not reported, and partners may confirm again and again.
    """
    planned = sweep.next_check_at
    if outlook.submitted_at is None or planned is None or planned <= outlook.now:
        return at
    return min(at, planned)


def _move(
    sweep: Sweep,
    executions: Sequence[Execution],
    candidates: Sequence[SweepTransaction],
    ended: Sequence[Ended],
) -> None:
    """Move the sweep to the status that follows from its executions."""
    to = _status(executions, is_void=sweep.status == SweepStatus.VOID)
    if to == SweepStatus.COMPLETED:  # each time: an execution that had failed may yet be executed
        is_whole = all(execution.status == Execution.Status.EXECUTED for execution in executions)
        change = transitions.clear_flag if is_whole else transitions.raise_flag
        change(sweep, Flag.PARTIAL)
    if to == sweep.status:
        return
    deciding = [tx.tx_hash for tx in candidates if tx.status == _DECIDING.get(to)]
    cause, tx_hash = _CAUSES[to], deciding[-1] if deciding else None
    if to == SweepStatus.FAILED and all(execution.closed_at is not None for execution in executions):
        taken = [one.tx_hash for one in ended if one.ending is Ending.TAKEN]
        cause, tx_hash = (Cause.TAKEN, taken[-1]) if taken else (Cause.RAN_OUT, tx_hash)
    transitions.move(sweep, to, cause, tx_hash=tx_hash)


def _status(executions: Sequence[Execution], *, is_void: bool) -> SweepStatus:
    """Return the status that follows from the executions; the first condition that holds decides."""
    outcomes = {execution.status for execution in executions}
    if Execution.Status.EXECUTED in outcomes and Execution.Status.PENDING not in outcomes:
        return SweepStatus.COMPLETED
    if is_void:
        return SweepStatus.VOID
    if Execution.Status.PENDING in outcomes:
        return SweepStatus.PENDING
    if Execution.Status.CANCELLED in outcomes:
        return SweepStatus.VOID
    return SweepStatus.FAILED if Execution.Status.FAILED in outcomes else SweepStatus.EXPIRED


def _outlook(sweep: Sweep, executions: Sequence[Execution], candidates: Sequence[SweepTransaction]) -> Outlook:
    submitted = [tx.submitted_at for tx in candidates if tx.is_live]
    return Outlook(
        network=sweep.network,
        is_executed=any(one.status == Execution.Status.EXECUTED and one.closed_at is None for one in executions),
        flags=sweep.flags,
        deadline=sweep.deadline,
        now=timezone.now(),
        submitted_at=max(submitted, default=None),
        is_searching=any(execution.search_cursor for execution in executions),
        is_cancelling=sweep.cancellation_requested_at is not None,
    )
