"""The status object of /v1, as ``OffchainStateSerializer`` describes it."""

from sweeps.rails.rail import Rail
from sweeps.snapshots import parts
from sweeps.snapshots.parts import Part
from sweeps.snapshots.reading import Snapshot


def status_object(snapshot: Snapshot, rail: Rail) -> Part:
    """Return the status object of a sweep of this rail."""
    return {
        **parts.checks(snapshot),
        **parts.facts(snapshot, mode=rail.mode),
        **parts.summary(snapshot),
        **parts.state(snapshot),
        "executions": [
            {name: execution[name] for name in ("id", "status", "tokens", "txHash", "reason")}
            for execution in snapshot["executions"]
        ],
    }
