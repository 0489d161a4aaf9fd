"""Settles what was seen of one sweep, for tests that care about what follows from it."""

from typing import Any
from uuid import UUID

from sweeps.story.settle import Look, Settled, settle_together


class LeaseLostError(Exception):
    """Another check took the sweep over, so nothing was settled."""


def settle(*, sweep_id: UUID, seen: Any, lease: UUID | None = None) -> Settled:
    """Settle it, or raise; ``LeaseLostError`` if the sweep is no longer under that lease."""
    settled = settle_together([Look(sweep_id, seen)], lease=lease)
    if not settled:
        raise LeaseLostError
    return settled[0]
