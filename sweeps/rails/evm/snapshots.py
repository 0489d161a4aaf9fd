"""The status object of /v2, as ``EvmStateSerializer`` describes it.

It belongs to the EVM rails, because it needs their contract's version and nonce, and ``sweeps.shown`` imports no rail.
"""

from sweeps.protocol.presentation import Part, Snapshot
from sweeps.rails.evm.rail import EvmRail
from sweeps.shown import parts


def status_object(snapshot: Snapshot, rail: EvmRail) -> Part:
    """Return the status object of a sweep of this rail."""
    state = parts.state(snapshot)
    execution = snapshot["executions"][0]
    return {
        **parts.facts(snapshot, mode=rail.mode),
        **state,
        "chainId": int(snapshot["network"].removeprefix("eip155:")),
        "flags": snapshot["flags"],
        "contractVersion": rail.contract_version,
        "contractAddress": execution["venue"],
        "cancellation": _cancellation(snapshot["cancellation_requested_at"], execution["cancellation_tx_hash"]),
        "feeAuthorization": {
            **parts.checks(snapshot),
            "status": snapshot["status"],
            **_reported(state["transaction"]),
            "confirmedAt": snapshot["completed_at"],
            "nonce": rail.authorization_nonce(execution["id"]),
            "deadline": snapshot["deadline"],
            "totalFeeBps": snapshot["fees"]["total_fee_bps"],
            "partnerShareBps": snapshot["fees"]["partner_share_bps"],
            "expectedFees": parts.expected_fees(snapshot),
            "actualFees": parts.actual_fees(snapshot),
        },
    }


def _cancellation(requested_at: str | None, tx_hash: str | None) -> Part | None:
    if requested_at is None and tx_hash is None:
        return None
    return {"requestedAt": requested_at, "txHash": tx_hash}


def _reported(transaction: Part | None) -> Part:
    if transaction is None:
        return {"txHash": None, "submittedAt": None}
    return {"txHash": transaction["txHash"], "submittedAt": transaction["submittedAt"]}
