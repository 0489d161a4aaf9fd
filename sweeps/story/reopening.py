"""Opens closed sweeps again: one that was executed after all, or a completed one whose block operators doubt."""

from uuid import UUID

import structlog
from django.db import transaction

from sweeps.models import EventKind, Execution, Flag, SweepEvent, SweepStatus
from sweeps.protocol.rail import Ending, ExecutionVerdict, Verdict
from sweeps.store import transitions
from sweeps.store.reading import lock_one
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write
from sweeps.wake import wake

log = structlog.get_logger(__name__)


def reopen(*, sweep_id: UUID, reason: str, requested_by: str) -> bool:
    """Have the worker check the block again: it closes the sweep, or reverses it if the block left the chain.

    Returns False for a sweep that is open anyway, was not executed, or was adopted, so that its terms are not known.
    Raises ``ValueError`` for an empty reason.
    """
    if not reason.strip():
        raise ValueError("A reason is required.")
    with transaction.atomic():
        stored = lock_one(sweep_id)
        sweep = stored.sweep
        if sweep.is_open or sweep.is_adopted or sweep.status != SweepStatus.COMPLETED:
            return False
        for execution in stored.executions:
            if execution.status == Execution.Status.EXECUTED:
                execution.closed_at = None
        transitions.reopen(stored, reason=reason.strip(), requested_by=requested_by)
        write([stored])
        transaction.on_commit(lambda: wake(sweep_id, at=stored.now))
    return True


def open_executed(stored: StoredSweep, verdict: Verdict) -> None:
    """Open what final blocks show to be executed although it was closed without that: executions, and their sweep.

    If the sweep is open afterwards, the caller settles the verdict.
    """
    if not verdict.is_final:
        return
    sweep = stored.sweep
    late = [one for one in stored.executions if _shows_late(one, verdict.executions[one.id])]
    for execution in late:
        execution.closed_at = None
    if not sweep.is_open and late:
        transitions.reopen(stored, reason="A final block shows an execution.", requested_by="reconciliation")
        transitions.clear_flag(stored, Flag.CANCELLED_ON_CHAIN)
    if late:
        transitions.raise_flag(stored, Flag.EXECUTED_AFTER_CLOSE)
    elif not sweep.is_open:
        _replace_cancellations(stored, verdict)
        _note_other_uses(stored, verdict)


def _shows_late(execution: Execution, verdict: ExecutionVerdict) -> bool:
    is_known = execution.closed_at is None or execution.status == Execution.Status.EXECUTED
    return not is_known and any(tx.executed is not None for tx in verdict.transactions)


def _replace_cancellations(stored: StoredSweep, verdict: Verdict) -> None:
    """Record which transaction cancelled an execution if the first one left the chain after its block was safe."""
    for execution in stored.executions:
        ended = verdict.executions[execution.id].ended
        if ended is None or ended.ending is not Ending.CANCELLED:
            continue
        if execution.cancellation_tx_hash not in (None, ended.tx_hash):
            execution.cancellation_tx_hash = ended.tx_hash
            transitions.note(stored, EventKind.CANCELLED, tx_hash=ended.tx_hash)


def _note_other_uses(stored: StoredSweep, verdict: Verdict) -> None:
    """Note and log what took the identity of a closed sweep on other terms, unless the sweep's history says so."""
    rejected = SweepEvent.objects.filter(sweep_id=stored.id, kind=EventKind.REJECTED)
    known = set(rejected.values_list("tx_hash", flat=True))
    for one in verdict.executions.values():
        seen = {
            tx.tx_hash: " ".join(mismatch.message for mismatch in tx.mismatches)
            for tx in one.transactions
            if tx.mismatches
        }
        if one.ended is not None and one.ended.ending is Ending.TAKEN and one.ended.tx_hash is not None:
            seen[one.ended.tx_hash] = one.ended.reason
        for tx_hash, reason in seen.items():
            if tx_hash not in known:
                transitions.note(stored, EventKind.REJECTED, tx_hash=tx_hash, reason=reason)
                log.warning("late_execution_differs", sweep_id=str(stored.id), tx_hash=tx_hash, reason=reason)
