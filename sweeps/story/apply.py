"""Applies the verdict of a rail to a locked sweep: in memory, with what changed added to the unit of work."""

from collections.abc import Sequence
from datetime import datetime

from sweeps import schedule
from sweeps.models import NO_PROVIDER_ANSWERED, Cause, Execution, Flag, Sweep, SweepStatus, SweepTransaction
from sweeps.protocol.rail import Ended, Ending, Outlook, Verdict
from sweeps.store import transitions
from sweeps.store.changes import Changes
from sweeps.story.executions import ExecutionSettlement

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


def apply(changes: Changes, sweep: Sweep, executions: Sequence[Execution], verdict: Verdict) -> Outlook:
    """Apply the verdict to an open sweep, whose executions these are, and return what its next look depends on."""
    sweep.last_error, sweep.watched_block_id = "", None
    settlements = [ExecutionSettlement(sweep, execution, changes) for execution in executions]
    for settlement in settlements:
        if settlement.execution.closed_at is None:
            settlement.apply(verdict.executions[settlement.execution.id])
    candidates = [tx for settlement in settlements for tx in settlement.candidates]
    ended = [settlement.ended for settlement in settlements if settlement.ended is not None]
    _move(changes, sweep, executions, candidates, ended)
    if all(execution.closed_at is not None for execution in executions):
        transitions.close(changes, sweep)
    sweep.check_attempts += 1
    sweep.last_checked_at = changes.now
    changes.add(sweep)
    return _outlook(changes.now, sweep, executions, candidates)


def postpone(changes: Changes, sweep: Sweep, *, is_planned: bool) -> None:
    """Look again soon, because no provider answered: however long they were away, they may be back.

    What ``is_planned`` already is not put off.
    """
    soon, planned = schedule.first_check(changes.now), sweep.next_check_at
    sweep.last_error = NO_PROVIDER_ANSWERED
    sweep.next_check_at = min(soon, planned) if is_planned and planned is not None else soon
    changes.add(sweep)


def _move(
    changes: Changes,
    sweep: Sweep,
    executions: Sequence[Execution],
    candidates: Sequence[SweepTransaction],
    ended: Sequence[Ended],
) -> None:
    """Move the sweep to the status that follows from its executions."""
    to = _status(executions, was_voided=sweep.voided_at is not None)
    if to == SweepStatus.COMPLETED:  # each time: an execution that had failed may yet be executed
        is_whole = all(execution.status == Execution.Status.EXECUTED for execution in executions)
        change = transitions.clear_flag if is_whole else transitions.raise_flag
        change(changes, sweep, Flag.PARTIAL)
    if to == sweep.status:
        return
    deciding = [tx.tx_hash for tx in candidates if tx.status == _DECIDING.get(to)]
    cause, tx_hash = _CAUSES[to], deciding[-1] if deciding else None
    if to == SweepStatus.FAILED and all(execution.closed_at is not None for execution in executions):
        taken = [one.tx_hash for one in ended if one.ending is Ending.TAKEN]
        cause, tx_hash = (Cause.TAKEN, taken[-1]) if taken else (Cause.RAN_OUT, tx_hash)
    if to == SweepStatus.VOID and all(execution.status != Execution.Status.CANCELLED for execution in executions):
        cause = Cause.REORGANISED  # it was executed although it was void, and is void again
    transitions.move(changes, sweep, to, cause, tx_hash=tx_hash)


def _status(executions: Sequence[Execution], *, was_voided: bool) -> SweepStatus:
    """Return the status that follows from the executions; the first condition that holds decides."""
    outcomes = {execution.status for execution in executions}
    if Execution.Status.EXECUTED in outcomes and Execution.Status.PENDING not in outcomes:
        return SweepStatus.COMPLETED
    if was_voided:
        return SweepStatus.VOID
    if Execution.Status.PENDING in outcomes:
        return SweepStatus.PENDING
    if Execution.Status.CANCELLED in outcomes:
        return SweepStatus.VOID
    return SweepStatus.FAILED if Execution.Status.FAILED in outcomes else SweepStatus.EXPIRED


def _outlook(
    now: datetime, sweep: Sweep, executions: Sequence[Execution], candidates: Sequence[SweepTransaction]
) -> Outlook:
    submitted = [tx.submitted_at for tx in candidates if tx.is_live]
    return Outlook(
        network=sweep.network,
        is_executed=any(one.status == Execution.Status.EXECUTED and one.closed_at is None for one in executions),
        flags=sweep.flags,
        deadline=sweep.deadline,
        now=now,
        submitted_at=max(submitted, default=None),
        is_searching=any(execution.search_cursor for execution in executions),
        is_cancelling=sweep.cancellation_requested_at is not None,
    )
