"""The only writer of a sweep's status and of its events.

Each function expects the sweep's row to be locked, changes the instance, and adds an event to the changes that the
caller writes with the sweep. A trigger refuses a status that was saved without an event.
"""

from typing import Any

from sweeps.models import Cause, EventKind, Flag, Sweep, SweepStatus
from sweeps.store.changes import Changes


def move(
    changes: Changes,
    sweep: Sweep,
    to: SweepStatus,
    cause: Cause,
    *,
    tx_hash: str | None = None,
    **facts: Any,  # noqa: ANN401 - JSON
) -> None:
    """Change the status, with the time that belongs to it."""
    before, sweep.status = sweep.status, to
    sweep.completed_at = changes.now if to == SweepStatus.COMPLETED else None
    if to == SweepStatus.VOID:
        sweep.voided_at = sweep.voided_at or changes.now
    sweep.last_event += 1
    _append(changes, sweep, EventKind.STATUS, tx_hash, facts, from_status=before, to_status=to, cause=cause)


def built(changes: Changes, sweep: Sweep) -> None:
    """Add the first event of a sweep that was just stored."""
    _append(changes, sweep, EventKind.STATUS, None, {}, to_status=sweep.status, cause=Cause.BUILT)


def adopted(changes: Changes, sweep: Sweep, *, tx_hash: str, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Add the first event of a sweep that was stored from its execution on chain."""
    _append(changes, sweep, EventKind.STATUS, tx_hash, facts, to_status=sweep.status, cause=Cause.ADOPTED)


def note(changes: Changes, sweep: Sweep, kind: EventKind, *, tx_hash: str | None = None, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Record an event that does not change the status."""
    sweep.last_event += 1
    _append(changes, sweep, kind, tx_hash, facts)


def close(changes: Changes, sweep: Sweep) -> None:
    """Stop looking at the chain for this sweep."""
    sweep.is_open, sweep.closed_at, sweep.next_check_at = False, changes.now, None
    note(changes, sweep, EventKind.CLOSED)


def reopen(changes: Changes, sweep: Sweep, *, reason: str, requested_by: str) -> None:
    """Look at the chain again, at once; the caller opens the executions that the look may change."""
    sweep.is_open, sweep.closed_at, sweep.next_check_at = True, None, changes.now
    note(changes, sweep, EventKind.REOPENED, reason=reason, requested_by=requested_by)


def cancelled(changes: Changes, sweep: Sweep, reason: str) -> None:
    """Note on the sweep that an execution was cancelled on chain, with the reasons of those who requested it."""
    request = sweep.events.filter(kind=EventKind.CANCELLATION_REQUESTED).first()
    given = sweep.void_reason or (request.facts["reason"] if request is not None else "")
    sweep.void_reason = "; ".join(filter(None, [given, reason]))
    raise_flag(changes, sweep, Flag.CANCELLED_ON_CHAIN)


def raise_flag(changes: Changes, sweep: Sweep, flag: Flag | str) -> None:
    """Raise a flag unless it is already raised."""
    if flag not in sweep.flags:
        sweep.flags = [*sweep.flags, str(flag)]
        note(changes, sweep, EventKind.FLAG_RAISED, flag=str(flag))


def clear_flag(changes: Changes, sweep: Sweep, flag: Flag | str) -> None:
    """Clear a flag whose cause was explained or did not happen after all."""
    if flag in sweep.flags:
        sweep.flags = [raised for raised in sweep.flags if raised != flag]
        note(changes, sweep, EventKind.FLAG_CLEARED, flag=str(flag))


def _append(  # noqa: PLR0913 - the columns of an event
    changes: Changes,
    sweep: Sweep,
    kind: EventKind,
    tx_hash: str | None,
    facts: dict[str, Any],
    *,
    from_status: str = "",
    to_status: str = "",
    cause: str = "",
) -> None:
    changes.events.append(
        {
            "sweep_id": sweep.id,
            "sequence": sweep.last_event,
            "kind": kind,
            "from_status": from_status,
            "to_status": to_status,
            "cause": cause,
            "at": changes.now,
            "tx_hash": tx_hash,
            "facts": facts,
        }
    )
