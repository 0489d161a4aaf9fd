"""The status object of /v1, as ``OffchainStateSerializer`` describes it."""

from sweeps.models import SweepTransaction
from sweeps.rails.rail import Rail
from sweeps.serializers.answer import FEE_MODES
from sweeps.snapshots import parts
from sweeps.snapshots.parts import Part
from sweeps.snapshots.reading import Snapshot


def status_object(snapshot: Snapshot, rail: Rail) -> Part:
    """Return the status object of a sweep of this rail."""
    transactions = snapshot["transactions"]
    return {
        **parts.checks(snapshot),
        **parts.facts(snapshot, mode=rail.mode),
        "network": snapshot["network"],
        "feeMode": FEE_MODES[snapshot["settlement"]],
        "flags": snapshot["flags"],
        "completedAt": snapshot["completed_at"],
        "txHashes": [tx["txHash"] for tx in transactions if tx["status"] == SweepTransaction.Status.ACCEPTED],
        "fees": {
            "totalFeeBps": snapshot["total_fee_bps"],
            "partnerShareBps": snapshot["partner_share_bps"],
            "expected": parts.expected_fees(snapshot),
            "actual": snapshot["paid"],
        },
        **parts.state(snapshot),
        "executions": [
            {name: execution[name] for name in ("id", "status", "tokens", "txHash", "reason")}
            for execution in snapshot["executions"]
        ],
    }
