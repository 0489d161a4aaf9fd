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
        "operations": [_operation(snapshot, execution) for execution in snapshot["executions"]],
    }


def _operation(snapshot: Snapshot, execution: Part) -> Part:
    key = execution["key"]
    shown = parts.decisive_transaction([tx for tx in snapshot["transactions"] if tx["execution_id"] == key])
    return {
        "id": execution["id"],
        "status": execution["status"],
        "tokens": [token["asset"] for token in snapshot["tokens"] if token["execution_id"] == key],
        "txHash": None if shown is None else shown["tx_hash"],
        "reason": "" if shown is None else shown["reason"],
    }
