"""A stored sweep as the status object shows it; reads the database and never the chain."""

from typing import Any

from ledger.reading import postings_of
from sweepapi import chains
from sweeps.amounts import split
from sweeps.models import Sweep, SweepStatus, SweepTransaction


def sweep_state(sweep: Sweep) -> dict[str, Any]:
    """Return the data of ``SweepStateSerializer`` for one sweep, in a number of queries that does not grow."""
    authorization = sweep.authorization
    transactions = list(sweep.transactions.all())
    shown = _shown(transactions)
    return {
        "sweepId": sweep.id,
        "chain": chains.name_of(sweep.chain_id),
        "chainId": sweep.chain_id,
        "status": sweep.status,
        "open": sweep.is_open,
        "flags": sweep.flags,
        "mode": sweep.mode,
        "contractVersion": sweep.contract_version,
        "contractAddress": sweep.contract,
        "wallet": sweep.wallet,
        "outputMint": sweep.output_token,
        "tokenCount": authorization.token_count,
        "createdAt": sweep.created_at,
        "expiresAt": authorization.deadline,
        "transaction": shown,
        "transactions": transactions,
        "feeAuthorization": {
            "status": sweep.status,
            "txHash": shown.tx_hash if shown is not None else None,
            "submittedAt": shown.submitted_at if shown is not None else None,
            "confirmedAt": sweep.completed_at,
            "checkAttempts": sweep.check_attempts,
            "lastCheckedAt": sweep.last_checked_at,
            "nextCheckAt": sweep.next_check_at,
            "lastError": sweep.last_error or None,
            "nonce": authorization.nonce,
            "deadline": authorization.deadline,
            "totalFeeBps": authorization.total_fee_bps,
            "partnerShareBps": authorization.partner_share_bps,
            "expectedFees": split(sweep.expected_gross, authorization.total_fee_bps, authorization.partner_share_bps),
            "actualFees": sweep if sweep.status == SweepStatus.COMPLETED else None,
        },
        "ledger": {"entries": postings_of(sweep.id)},
    }


def _shown(transactions: list[SweepTransaction]) -> SweepTransaction | None:
    accepted = (tx for tx in transactions if tx.status == SweepTransaction.Status.ACCEPTED)
    return next(accepted, transactions[-1] if transactions else None)
