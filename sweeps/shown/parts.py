"""The parts of a sweep's status that all rails share, as the serializers describe them."""

from ledger.models import Settlement
from sweepapi import networks
from sweepapi.fees import split
from sweeps.models import EventKind, SweepStatus, SweepTransaction, TokenOutcome
from sweeps.protocol.presentation import Part, Snapshot
from sweeps.shown.timeline import sentence_of

FEE_MODES = {Settlement.ON_CHAIN: "onchain_partner_fees", Settlement.PAYABLE: "offchain_accounting"}
_AMOUNTS = {
    "grossOutput": "gross_output",
    "totalFee": "total_fee",
    "partnerFee": "partner_fee",
    "protocolFee": "protocol_fee",
    "userAmount": "user_amount",
}
_LEFT_OUT = {TokenOutcome.SKIPPED.value, TokenOutcome.DROPPED.value}


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
        "skippedCount": sum(token["outcome"] in _LEFT_OUT for token in tokens),
        "outputMint": snapshot["output_asset"],
        "outputSymbol": snapshot["output_symbol"],
        "outputDecimals": snapshot["output_decimals"],
        "createdAt": snapshot["created_at"],
        "expiresAt": snapshot["deadline"],
    }


def summary(snapshot: Snapshot) -> Part:
    """Return the fields that ``SweepSummarySerializer`` adds."""
    transactions = snapshot["transactions"]
    return {
        "network": snapshot["network"],
        "feeMode": FEE_MODES[snapshot["settlement"]],
        "flags": snapshot["flags"],
        "completedAt": snapshot["completed_at"],
        "txHashes": [tx["txHash"] for tx in transactions if tx["status"] == SweepTransaction.Status.ACCEPTED],
        "fees": {
            "totalFeeBps": snapshot["total_fee_bps"],
            "partnerShareBps": snapshot["partner_share_bps"],
            "expected": expected_fees(snapshot),
            "actual": actual_fees(snapshot),
        },
    }


def state(snapshot: Snapshot) -> Part:
    """Return the fields that ``SweepStateSerializer`` adds."""
    return {
        "tokens": snapshot["tokens"],
        "transaction": shown_transaction(snapshot),
        "transactions": snapshot["transactions"],
        "events": [_event(event) for event in snapshot["events"]],
        "ledger": {"entries": [_posting(entry) for entry in snapshot["entries"]]},
    }


def checks(snapshot: Snapshot) -> Part:
    """Return the fields of ``ChecksSerializer``."""
    return {
        "checkAttempts": snapshot["check_attempts"],
        "lastCheckedAt": snapshot["last_checked_at"],
        "nextCheckAt": snapshot["next_look_at"],
        "lastError": snapshot["last_error"] or None,
    }


def expected_fees(snapshot: Snapshot) -> Part | None:
    """Return the fields of ``FeeSplitSerializer`` for the newest offer; None if the sweep was adopted."""
    if snapshot["expected_gross"] is None:
        return None
    expected = split(snapshot["expected_gross"], snapshot["total_fee_bps"], snapshot["partner_share_bps"])
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


def shown_transaction(snapshot: Snapshot) -> Part | None:
    """Return the accepted transaction, otherwise the newest."""
    transactions: list[Part] = snapshot["transactions"]
    accepted = (tx for tx in transactions if tx["status"] == SweepTransaction.Status.ACCEPTED)
    return next(accepted, transactions[-1] if transactions else None)


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
