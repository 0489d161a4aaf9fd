"""The status object of /v1, as ``OffchainStateSerializer`` describes it."""

from sweepapi import networks
from sweeps.models import Execution, Flag
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
        "remaining": _remaining(snapshot) if Flag.PARTIAL in snapshot["flags"] else None,
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


def _remaining(snapshot: Snapshot) -> Part:
    """Return the body of a build of the tokens that were not swept, as the partner chose for those of this one."""
    impact_bps, percentile = snapshot["accepted_impact_bps"], snapshot["price_percentile"]
    return {
        "chain": networks.current().name_of(snapshot["network"]),
        "wallet": snapshot["wallet"],
        "tokens": [
            {"mint": token["asset"], "amount": token["amount"]}
            for token in snapshot["tokens"]
            if token["execution_status"] != Execution.Status.EXECUTED
        ],
        "outputMint": snapshot["output_asset"],
        "slippageBps": snapshot["slippage_bps"],
        **({} if impact_bps is None else {"acceptPriceImpactBps": impact_bps}),
        "acceptUneconomic": snapshot["accepts_uneconomic"],
        "onUnroutable": "skip" if snapshot["leaves_out"] else "reject",
        "closeEmptyAccounts": snapshot["closes_accounts"],
        "unwrapSol": snapshot["unwraps_coin"],
        **({"computeUnitPricePercentile": percentile} if percentile else {}),
    }
