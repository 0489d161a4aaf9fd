"""Settles what was read of one sweep, for tests that care about what follows from it."""

from typing import Any
from uuid import UUID

from sweeps.story.settle import Settled, SweepReading, settle_together


class LeaseLostError(Exception):
    """Another check took the sweep over, so nothing was settled."""


def settle(*, sweep_id: UUID, reading: Any, lease: UUID | None = None) -> Settled:
    """Settle it, or raise; ``LeaseLostError`` if the sweep is no longer under that lease."""
    settled = settle_together([SweepReading(sweep_id, reading)], lease=lease)
    if not settled:
        raise LeaseLostError
    return settled[0]
