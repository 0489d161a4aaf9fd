"""Deciding whether a receipt carries out a signed authorization; pure, so that it can be tested to the last field."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sweepapi.evm.responses import Receipt
from sweepapi.evm.v5 import SweepExecuted, decode_executed
from sweeps.amounts import Split, split
from sweeps.models import FeeAuthorization


@dataclass(frozen=True)
class Mismatch:
    """One way in which a transaction differs from what was signed."""

    field: str
    code: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What a receipt means to an authorization: reverted, executed (an event that matches), or something else."""

    reverted: bool = False
    executed: SweepExecuted | None = None
    mismatches: Sequence[Mismatch] = field(default=())


def judge(receipt: Receipt, authorization: FeeAuthorization) -> Verdict:
    """Compare a receipt with the authorization.

    All logs count, because a bundler may carry several sweeps in one transaction; only those of the authorization's
    contract do, because anybody can emit the same bytes.
    """
    if not receipt.succeeded:
        return Verdict(reverted=True)
    events = [
        event
        for log in receipt.logs
        if log.address == authorization.contract and (event := decode_executed(log)) is not None
    ]
    if not events:
        return Verdict(mismatches=[Mismatch("event", "missing", "The contract emitted no SweepExecutedV5.")])
    ours = next((event for event in events if event.nonce == authorization.nonce), None)
    if ours is None:
        return Verdict(mismatches=[Mismatch("nonce", "differs", "The event is of another authorization.")])
    mismatches = [*_differences(ours, authorization), *_inconsistencies(ours, authorization)]
    return Verdict(mismatches=mismatches) if mismatches else Verdict(executed=ours)


def _differences(event: SweepExecuted, authorization: FeeAuthorization) -> list[Mismatch]:
    pairs = {
        "user": (event.user, authorization.user),
        "partnerId": (event.partner_id, authorization.partner_onchain_id),
        "partnerRecipient": (event.partner_recipient, authorization.partner_recipient),
        "protocolRecipient": (event.protocol_recipient, authorization.protocol_recipient),
        "outputToken": (event.output_token, authorization.output_token),
        "tokenCount": (event.token_count, authorization.token_count),
    }
    return [
        Mismatch(name, "differs", f"The event says {seen}, the authorization {signed}.")
        for name, (seen, signed) in pairs.items()
        if seen != signed
    ]


def _inconsistencies(event: SweepExecuted, authorization: FeeAuthorization) -> list[Mismatch]:
    due = split(event.gross_output, authorization.total_fee_bps, authorization.partner_share_bps)
    paid = Split(event.gross_output, event.total_fee, event.partner_fee, event.protocol_fee, event.user_amount)
    if paid == due:
        return []
    return [Mismatch("amounts", "inconsistent", "The event's amounts contradict the signed basis points.")]
