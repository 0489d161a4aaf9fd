"""The status object of /v1, as ``OffchainStateSerializer`` describes it."""

from sweeps.protocol.presentation import Part, Snapshot
from sweeps.protocol.rail import Rail
from sweeps.shown import parts


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
