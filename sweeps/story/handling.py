"""Lets operators take a sweep that waits for one, and acknowledge its flags, which ends their alert."""

from uuid import UUID

from sweeps.models import Handling, Sweep


def take(sweep_id: UUID, *, operator: str) -> None:
    """Note that someone looks after the sweep."""
    Handling.objects.create(sweep_id=sweep_id, operator=operator, is_taken=True)


def acknowledge(sweep_id: UUID, *, operator: str, note: str) -> list[str]:
    """Note that someone has seen the flags that the sweep has now, and return them; one raised later waits again."""
    flags = Sweep.objects.values_list("flags", flat=True).get(id=sweep_id)
    Handling.objects.create(sweep_id=sweep_id, operator=operator, flags=flags, note=note)
    return flags
