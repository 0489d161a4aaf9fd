"""The only writer of a sweep's status and of its events.

Each function expects the sweep's row to be locked, changes the instance and appends an event; the caller saves the
sweep in the same transaction. A trigger refuses a status that was saved without an event.
"""

from functools import partial
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone

from sweeps.models import Cause, EventKind, Flag, Sweep, SweepEvent, SweepStatus

log = structlog.get_logger(__name__)


def move(sweep: Sweep, to: SweepStatus, cause: Cause, *, tx_hash: str | None = None, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Change the status, with the time that belongs to it."""
    before, sweep.status = sweep.status, to
    now = timezone.now()
    sweep.completed_at = now if to == SweepStatus.COMPLETED else None
    if to == SweepStatus.VOID:
        sweep.voided_at = sweep.voided_at or now
    kind = EventKind.STATUS
    event = _append(sweep, kind=kind, from_status=before, to_status=to, cause=cause, tx_hash=tx_hash, facts=facts)
    _log_once_committed(event)


def built(sweep: Sweep) -> None:
    """Write the first event of a sweep that was just stored."""
    event = SweepEvent.objects.create(
        sweep=sweep, sequence=sweep.last_event, kind=EventKind.STATUS, to_status=sweep.status, cause=Cause.BUILT
    )
    _log_once_committed(event)


def note(sweep: Sweep, kind: EventKind, *, tx_hash: str | None = None, **facts: Any) -> None:  # noqa: ANN401 - JSON
    """Record an event that does not change the status."""
    _append(sweep, kind=kind, tx_hash=tx_hash, facts=facts)


def close(sweep: Sweep) -> None:
    """Stop looking at the chain for this sweep."""
    sweep.is_open, sweep.closed_at, sweep.next_check_at = False, timezone.now(), None
    note(sweep, EventKind.CLOSED)


def reopen(sweep: Sweep, *, reason: str, requested_by: str) -> None:
    """Look at the chain again, at once; the caller opens the executions that the look may change."""
    sweep.is_open, sweep.closed_at, sweep.next_check_at = True, None, timezone.now()
    note(sweep, EventKind.REOPENED, reason=reason, requested_by=requested_by)


def cancelled(sweep: Sweep, reason: str) -> None:
    """Note on the sweep that an execution was cancelled on chain, with the reasons of those who requested it."""
    request = sweep.events.filter(kind=EventKind.CANCELLATION_REQUESTED).first()
    given = sweep.void_reason or (request.facts["reason"] if request is not None else "")
    sweep.void_reason = "; ".join(filter(None, [given, reason]))
    raise_flag(sweep, Flag.CANCELLED_ON_CHAIN)


def raise_flag(sweep: Sweep, flag: Flag | str) -> None:
    """Raise a flag unless it is already raised."""
    if flag not in sweep.flags:
        sweep.flags = [*sweep.flags, str(flag)]
        note(sweep, EventKind.FLAG_RAISED, flag=str(flag))


def clear_flag(sweep: Sweep, flag: Flag | str) -> None:
    """Clear a flag whose cause was explained or did not happen after all."""
    if flag in sweep.flags:
        sweep.flags = [raised for raised in sweep.flags if raised != flag]
        note(sweep, EventKind.FLAG_CLEARED, flag=str(flag))


def _append(sweep: Sweep, **event: Any) -> SweepEvent:  # noqa: ANN401 - fields of SweepEvent
    sweep.last_event += 1
    return SweepEvent.objects.create(sweep=sweep, sequence=sweep.last_event, **event)


def _log_once_committed(event: SweepEvent) -> None:
    """Log the change of a status, without its facts: a reason is free text."""
    change = {"from_status": event.from_status, "to_status": event.to_status, "cause": event.cause}
    transaction.on_commit(
        partial(log.info, "sweep_status_changed", sweep_id=str(event.sweep_id), **change, tx_hash=event.tx_hash)
    )
