"""The only writer of a sweep's status and of its events.

Each function changes a sweep as it was read, with an event, and the caller writes both under the lock of its row. A
trigger refuses a status that was saved without an event.
"""

from typing import Any

from sweeps.models import Cause, EventKind, Execution, Flag, SweepEvent, SweepStatus
from sweeps.store.stored import StoredSweep


def move(
    stored: StoredSweep,
    to: SweepStatus,
    cause: Cause,
    *,
    tx_hash: str | None = None,
    **facts: Any,  # noqa: ANN401 - JSON
) -> None:
    """Change the status, with the time that belongs to it."""
    sweep = stored.sweep
    before, sweep.status = sweep.status, to
    sweep.completed_at = stored.now if to == SweepStatus.COMPLETED else None
    if to == SweepStatus.VOID:
        sweep.voided_at = sweep.voided_at or stored.now
    sweep.last_event += 1
    _append(stored, EventKind.STATUS, tx_hash, facts, from_status=before, to_status=to, cause=cause)


def built(stored: StoredSweep) -> None:
    """Add the first event of a sweep that is about to be stored."""
    _append(stored, EventKind.STATUS, None, {}, to_status=stored.sweep.status, cause=Cause.BUILT)


def adopted(stored: StoredSweep, *, tx_hash: str, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Add the first event of a sweep that is stored from its execution on chain."""
    _append(stored, EventKind.STATUS, tx_hash, facts, to_status=stored.sweep.status, cause=Cause.ADOPTED)


def note(stored: StoredSweep, kind: EventKind, *, tx_hash: str | None = None, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Record an event that does not change the status."""
    stored.sweep.last_event += 1
    _append(stored, kind, tx_hash, facts)


def close(stored: StoredSweep) -> None:
    """Stop checking the chain for this sweep."""
    sweep = stored.sweep
    sweep.is_open, sweep.closed_at, sweep.next_check_at, sweep.watched_block_id = False, stored.now, None, None
    note(stored, EventKind.CLOSED)


def reopen(stored: StoredSweep, *, reason: str, requested_by: str) -> None:
    """Check the chain again, at once; the caller opens the executions that the check may change."""
    sweep = stored.sweep
    sweep.is_open, sweep.closed_at, sweep.next_check_at = True, None, stored.now
    note(stored, EventKind.REOPENED, reason=reason, requested_by=requested_by)


def cancelled(stored: StoredSweep, execution: Execution, *, tx_hash: str | None, reason: str) -> None:
    """Record that this transaction cancelled an execution, and on the sweep the reasons of those who requested it."""
    sweep = stored.sweep
    execution.status, execution.cancellation_tx_hash = Execution.Status.CANCELLED, tx_hash
    note(stored, EventKind.CANCELLED, tx_hash=tx_hash)
    request = SweepEvent.objects.filter(sweep_id=sweep.id, kind=EventKind.CANCELLATION_REQUESTED).first()
    given = sweep.void_reason or (request.facts["reason"] if request is not None else "")
    sweep.void_reason = "; ".join(filter(None, [given, reason]))
    raise_flag(stored, Flag.CANCELLED_ON_CHAIN)


def raise_flag(stored: StoredSweep, flag: Flag | str) -> None:
    """Raise a flag unless it is already raised."""
    sweep = stored.sweep
    if flag not in sweep.flags:
        sweep.flags = [*sweep.flags, str(flag)]
        note(stored, EventKind.FLAG_RAISED, flag=str(flag))


def clear_flag(stored: StoredSweep, flag: Flag | str) -> None:
    """Clear a flag whose cause was explained or did not happen after all."""
    sweep = stored.sweep
    if flag in sweep.flags:
        sweep.flags = [raised for raised in sweep.flags if raised != flag]
        note(stored, EventKind.FLAG_CLEARED, flag=str(flag))


def _append(  # noqa: PLR0913 - the columns of an event
    stored: StoredSweep,
    kind: EventKind,
    tx_hash: str | None,
    facts: dict[str, Any],
    *,
    from_status: str = "",
    to_status: str = "",
    cause: str = "",
) -> None:
    stored.events.append(
        {
            "sweep_id": stored.id,
            "sequence": stored.sweep.last_event,
            "kind": kind,
            "from_status": from_status,
            "to_status": to_status,
            "cause": cause,
            "at": stored.now,
            "tx_hash": tx_hash,
            "facts": facts,
        }
    )
