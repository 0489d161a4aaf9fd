"""Applies the verdict of a rail to a sweep as it was read: in memory, to be written by the caller."""

from collections.abc import Sequence

from sweeps import schedule
from sweeps.models import NO_PROVIDER_ANSWERED, Cause, Execution, Flag, SweepStatus, SweepTransaction
from sweeps.protocol.rail import Ended, Ending, SweepProgress, Verdict
from sweeps.store import transitions
from sweeps.store.stored import StoredSweep
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


def apply(stored: StoredSweep, verdict: Verdict) -> None:
    """Apply the verdict to an open sweep, and close it once all of its executions are."""
    settlements = [ExecutionSettlement(stored, execution) for execution in stored.executions]
    for settlement in settlements:
        if settlement.execution.closed_at is None:
            settlement.apply(verdict.executions[settlement.execution.id])
    _move(stored, [settlement.ended for settlement in settlements if settlement.ended is not None])
    if all(execution.closed_at is not None for execution in stored.executions):
        transitions.close(stored)


def postpone(stored: StoredSweep, *, is_planned: bool) -> None:
    """Check again soon, because no provider answered: however long they were away, they may be back.

    What ``is_planned`` already is not put off.
    """
    sweep = stored.sweep
    soon, planned = schedule.first_check(stored.now), sweep.next_check_at
    sweep.last_error = NO_PROVIDER_ANSWERED
    sweep.next_check_at = min(soon, planned) if is_planned and planned is not None else soon


def progress_of(stored: StoredSweep) -> SweepProgress:
    """Return what the next check at an open sweep depends on."""
    sweep = stored.sweep
    submitted = [tx.submitted_at for tx in stored.candidates if tx.is_live]
    shown = [tx.shown_since for tx in stored.candidates if tx.shown_since is not None]
    return SweepProgress(
        network=sweep.network,
        is_executed=any(one.status == Execution.Status.EXECUTED and one.closed_at is None for one in stored.executions),
        flags=sweep.flags,
        deadline=sweep.deadline,
        now=stored.now,
        submitted_at=max(submitted, default=None),
        shown_since=min(shown, default=None),
        is_searching=any(execution.search_cursor for execution in stored.executions),
        is_cancelling=sweep.cancellation_requested_at is not None,
    )


def _move(stored: StoredSweep, ended: Sequence[Ended]) -> None:
    """Move the sweep to the status that follows from its executions."""
    sweep, executions = stored.sweep, stored.executions
    to = _status(executions, was_voided=sweep.voided_at is not None)
    if to == SweepStatus.COMPLETED:  # each time: an execution that had failed may yet be executed
        is_whole = all(execution.status == Execution.Status.EXECUTED for execution in executions)
        change = transitions.clear_flag if is_whole else transitions.raise_flag
        change(stored, Flag.PARTIAL)
    if to == sweep.status:
        return
    deciding = [tx.tx_hash for tx in stored.candidates if tx.status == _DECIDING.get(to)]
    cause, tx_hash = _CAUSES[to], deciding[-1] if deciding else None
    if to == SweepStatus.FAILED and all(execution.closed_at is not None for execution in executions):
        taken = [one.tx_hash for one in ended if one.ending is Ending.TAKEN]
        cause, tx_hash = (Cause.TAKEN, taken[-1]) if taken else (Cause.RAN_OUT, tx_hash)
    if to == SweepStatus.VOID:
        cancelled = [one.cancellation_tx_hash for one in executions if one.cancellation_tx_hash is not None]
        # Without a cancellation it was executed although it was void, and is void again.
        cause, tx_hash = (cause, cancelled[-1]) if cancelled else (Cause.REORGANISED, None)
    transitions.move(stored, to, cause, tx_hash=tx_hash)


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
