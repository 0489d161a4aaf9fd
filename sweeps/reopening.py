"""Opens a completed sweep again that was closed as final, for operators who doubt that its block is still there."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweeps import transitions
from sweeps.models import Execution, Sweep, SweepStatus
from sweeps.nudge import nudge


def reopen(*, sweep_id: UUID, reason: str, requested_by: str) -> bool:
    """Have the worker look at the block again: it closes the sweep, or reverses it if the block left the chain.

    Returns False for a sweep that is open anyway, or was not executed. Raises ``ValueError`` for an empty reason.
    """
    if not reason.strip():
        raise ValueError("A reason is required.")
    with transaction.atomic():
        sweep = Sweep.objects.select_for_update().get(id=sweep_id)
        if sweep.is_open or sweep.status != SweepStatus.COMPLETED:
            return False
        sweep.executions.filter(status=Execution.Status.EXECUTED).update(closed_at=None)
        transitions.reopen(sweep, reason=reason.strip(), requested_by=requested_by)
        sweep.save()
        transaction.on_commit(lambda: nudge(sweep_id, at=timezone.now()))
    return True
