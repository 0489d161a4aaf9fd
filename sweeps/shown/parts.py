"""The parts of a sweep's status that all rails share, as the serializers describe them."""

from collections.abc import Sequence

from ledger.models import Settlement
from sweepapi import networks
from sweepapi.fees import FeeRates
from sweeps.models import EventKind, Execution, SkippedToken, SweepStatus, SweepTransaction, TokenOutcome
from sweeps.models.execution import confirmations_at
from sweeps.protocol.presentation import Part, Snapshot
from sweeps.shown.timeline import sentence_of

FEE_MODES = {Settlement.ON_CHAIN: "onchain_partner_fees", Settlement.PAYABLE: "offchain_accounting"}
AWAITS_RECEIPT = "receipt"
# What a submitted transaction may await, the nearest to a decision first.
AWAITED = (SweepTransaction.Awaits.AGREEMENT.value, SweepTransaction.Awaits.BLOCK.value, AWAITS_RECEIPT)
_AMOUNTS = {
    "grossOutput": "gross_output",
    "totalFee": "total_fee",
    "partnerFee": "partner_fee",
    "protocolFee": "protocol_fee",
    "userAmount": "user_amount",
}


def facts(snapshot: Snapshot, *, mode: str) -> Part:
    """Return the fields of ``SweepFactsSerializer``."""
    tokens = snapshot["tokens"]
    return {
        "sweepId": snapshot["id"],
        "clientReference": snapshot["client_reference"] or None,
        "chain": networks.current().name_of(snapshot["network"]),
        "status": snapshot["status"],
        "open": snapshot["is_open"],
        "mode": mode,
        "wallet": snapshot["wallet"],
        "tokenCount": len(tokens),
        "skippedCount": sum(token["left_out"] is not None for token in tokens),
        "outputMint": snapshot["output_asset"],
        "outputSymbol": snapshot["output_symbol"],
        "outputDecimals": snapshot["output_decimals"],
        "createdAt": snapshot["created_at"],
        "expiresAt": snapshot["deadline"],
        "expiresInSeconds": snapshot["expires_in_seconds"],
    }


def summary(snapshot: Snapshot) -> Part:
    """Return the fields that ``SweepSummarySerializer`` adds."""
    transactions = snapshot["transactions"]
    return {
        "network": snapshot["network"],
        "feeMode": FEE_MODES[snapshot["settlement"]],
        "flags": snapshot["flags"],
        "confirmedAt": snapshot["completed_at"],
        "txHashes": [tx["tx_hash"] for tx in transactions if tx["status"] == SweepTransaction.Status.ACCEPTED],
        "fees": {
            "totalFeeBps": snapshot["fees"]["total_fee_bps"],
            "partnerShareBps": snapshot["fees"]["partner_share_bps"],
            "expectedFees": expected_fees(snapshot),
            "actualFees": actual_fees(snapshot),
        },
    }


def state(snapshot: Snapshot) -> Part:
    """Return the fields that ``SweepStateSerializer`` adds."""
    head, rows = snapshot["watched_head"], snapshot["transactions"]
    decisive = decisive_transaction(rows)
    return {
        "tokens": [_token(token) for token in snapshot["tokens"]],
        "awaits": awaits(rows),
        "transaction": None if decisive is None else _transaction(decisive, head),
        "transactions": [_transaction(tx, head) for tx in rows],
        "events": [_event(event) for event in snapshot["events"]],
        "ledger": {"entries": [_posting(entry) for entry in snapshot["entries"]]},
    }


def checks(snapshot: Snapshot) -> Part:
    """Return the fields of ``ChecksSerializer``."""
    return {
        "checkAttempts": snapshot["check_attempts"],
        "lastCheckedAt": snapshot["last_checked_at"],
        "nextCheckAt": snapshot["planned_check_at"],
        "lastError": snapshot["last_error"] or None,
    }


def expected_fees(snapshot: Snapshot) -> Part | None:
    """Return the fields of ``FeeSplitSerializer`` for the newest offer; None if the sweep was adopted."""
    if snapshot["expected_gross"] is None:
        return None
    expected = FeeRates(**snapshot["fees"]).split(snapshot["expected_gross"])
    return {
        "grossOutput": str(expected.gross_output),
        "totalFee": str(expected.total_fee),
        "partnerFee": str(expected.partner_fee),
        "protocolFee": str(expected.protocol_fee),
        "userAmount": str(expected.user_amount),
    }


def actual_fees(snapshot: Snapshot) -> Part | None:
    """Return the fields of ``FeeSplitSerializer`` for what the executions paid; None unless completed."""
    if snapshot["status"] != SweepStatus.COMPLETED:
        return None
    executions = snapshot["executions"]
    return {name: str(sum(one[column] or 0 for one in executions)) for name, column in _AMOUNTS.items()}


def decisive_transaction(rows: Sequence[Part]) -> Part | None:
    """Return the accepted transaction, otherwise the newest."""
    accepted = (tx for tx in rows if tx["status"] == SweepTransaction.Status.ACCEPTED)
    return next(accepted, rows[-1] if rows else None)


def awaits(rows: Sequence[Part]) -> str | None:
    """Return what is missing before one of the submitted transactions counts, of the one that is nearest to it."""
    missing = [tx["awaits"] for tx in rows if tx["status"] == SweepTransaction.Status.SUBMITTED]
    return min((one or AWAITS_RECEIPT for one in missing), key=AWAITED.index, default=None)


def confirmations(tx: Part, watched_head: int | None) -> int:
    """Return the confirmations, counted up to the head of the last check of its block while that is followed."""
    counted: int = tx["confirmations"]
    if tx["status"] != SweepTransaction.Status.ACCEPTED or watched_head is None:
        return counted
    return confirmations_at(watched_head, tx["block_number"], before=counted)


def _transaction(tx: Part, watched_head: int | None) -> Part:
    return {
        "txHash": tx["tx_hash"],
        "status": tx["status"],
        "source": tx["source"],
        "blockNumber": tx["block_number"],
        "blockHash": tx["block_hash"] or None,
        "confirmations": confirmations(tx, watched_head),
        "finality": tx["finality"],
        "gasUsed": tx["gas_used"],
        "submittedAt": tx["submitted_at"],
        "confirmedAt": tx["confirmed_at"],
        "reason": tx["reason"],
    }


def _token(token: Part) -> Part:
    reason = token["left_out"]
    if reason is None:
        is_executed = token["execution_status"] == Execution.Status.EXECUTED
        outcome, skip_reason = TokenOutcome.SWEPT.value if is_executed else None, None
    elif reason == SkippedToken.Reason.DROPPED:
        outcome, skip_reason = TokenOutcome.DROPPED.value, None
    else:
        outcome, skip_reason = TokenOutcome.SKIPPED.value, reason
    return {
        "mint": token["asset"],
        "symbol": token["symbol"],
        "decimals": token["decimals"],
        "amount": token["amount"],
        "outcome": outcome,
        "skipReason": skip_reason,
    }


def _event(event: Part) -> Part:
    kind = event["kind"]
    return {
        "type": f"sweep_{event['to_status']}" if kind == EventKind.STATUS else kind,
        "at": event["at"],
        "txHash": event["tx_hash"],
        "message": sentence_of(kind, event["cause"], event["facts"]),
    }


def _posting(entry: Part) -> Part:
    return entry | {"chain": networks.current().name_of(entry["chain"])}
