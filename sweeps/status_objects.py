"""The status objects of many sweeps at once, as the endpoints of their versions show them; for webhooks.

It is above ``sweeps.shown``, because it chooses the rail, and the rails import what is shown.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from sweeps.protocol.presentation import Part, Snapshot
from sweeps.rails.registry import RAILS, V1, V2, V2_RAILS
from sweeps.shown.reading import read_snapshots


def status_objects(sweep_ids: Collection[UUID]) -> Mapping[UUID, Mapping[str, Any]]:
    """Return the status object of each of these sweeps, by its id."""
    return {UUID(snapshot["id"]): _status_object(snapshot) for snapshot in read_snapshots(sweep_ids)}


def _status_object(snapshot: Snapshot) -> Part:
    rail = snapshot["rail"]
    return (V2 if rail in V2_RAILS else V1).status_object(snapshot, RAILS[rail])
