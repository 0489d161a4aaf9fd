"""What V5's events must say about a sweep: the authorization's nonce identifies it, and every term must match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.batch import SkippedLeg
from sweepapi.evm.contracts.v5 import (
    CANCELLED_TOPIC,
    EXECUTED_TOPIC,
    IS_NONCE_USED,
    SweepExecutedV5,
    decode_cancelled,
    decode_executed,
)
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.logs.log_query import Topics
from sweepapi.evm.logs.log_search import Event
from sweepapi.fees import Split
from sweeps.protocol.rail import Ended, Ending, Executed, FeeTerms, Mismatch, Skipped
from sweeps.rails.evm.follow.emitted import (
    EmittedOutcome,
    PaidParties,
    executions,
    skipped_tokens,
    total_floor,
)
from sweeps.rails.evm.follow.followed import Match
from sweeps.rails.evm.follow.following import NONCE_USED
from sweeps.store.stored import StoredSweep


@dataclass(frozen=True)
class V5Terms:
    """The values that an event must match: the sweep's terms, whichever offer was executed."""

    nonce: int
    user: str
    partner_id: str
    output_token: str
    tokens: tuple[str, ...]
    floors: tuple[int, ...]
    max_skipped: int
    fees: FeeTerms

    identity = "nonce"
    used_flag = NONCE_USED

    @classmethod
    def of(cls, stored: StoredSweep) -> "V5Terms":
        """Return the terms of a sweep and its only execution."""
        sweep, (execution,) = stored.sweep, stored.executions
        return cls(
            nonce=int(execution.execution_id),
            user=sweep.wallet,
            partner_id=sweep.partner.onchain_id,
            output_token=sweep.output_asset,
            tokens=tuple(token.asset for token in stored.tokens),
            floors=tuple(sweep.permit.floors),
            max_skipped=sweep.permit.max_skipped,
            fees=FeeTerms.of(sweep),
        )

    @property
    def topics(self) -> Topics:
        return ((EXECUTED_TOPIC, CANCELLED_TOPIC), f"0x{self.nonce:064x}")

    def is_used(self, contract: str) -> Read:
        return Read(contract, IS_NONCE_USED, (self.nonce,))

    def read(self, log: Log) -> Event | None:
        """Return the cancellation, or the execution as a hint: its receipt is checked, not this event."""
        cancelled = decode_cancelled(log)
        event = cancelled or decode_executed(log)
        if event is None or event.nonce != self.nonce:
            return None
        if cancelled is None:
            return Event(None, is_hint=True)
        return Event(Ended(Ending.CANCELLED, f"cancelled on chain by {cancelled.by}"), is_hint=False)

    def match(self, logs: Sequence[Log]) -> Match:
        found = list(executions(logs, decode_executed))
        if not found:
            return Match([Mismatch("event", "missing", "The contract emitted no SweepExecutedV5.")])
        ours = next(((event, legs) for event, legs in found if event.nonce == self.nonce), None)
        if ours is None:
            return Match([Mismatch("nonce", "differs", "The event belongs to another authorization.")])
        event, legs = ours
        skipped = skipped_tokens(legs, self.tokens)
        mismatches = [*self._differences(event), *self._inconsistencies(event, legs, skipped)]
        return Match(mismatches, None if mismatches else Executed(_paid(event), skipped))

    def _differences(self, event: SweepExecutedV5) -> list[Mismatch]:
        pairs = {
            "user": (event.user, self.user),
            "partnerId": (event.partner_id, self.partner_id),
            "partnerRecipient": (event.partner_recipient, self.fees.partner_recipient),
            "protocolRecipient": (event.protocol_recipient, self.fees.protocol_recipient),
            "outputToken": (event.output_token, self.output_token),
            "tokenCount": (event.token_count, len(self.tokens)),
        }
        return [
            Mismatch(name, "differs", f"{name}: the event has {seen}, the authorization {signed}.")
            for name, (seen, signed) in pairs.items()
            if seen != signed
        ]

    def _inconsistencies(
        self, event: SweepExecutedV5, legs: Sequence[SkippedLeg], skipped: Sequence[Skipped]
    ) -> Iterator[Mismatch]:
        """Yield what the contract can't have emitted for what was signed."""
        if _paid(event) != self.fees.split(event.gross_output):
            yield Mismatch("amounts", "inconsistent", "The event's amounts contradict the signed basis points.")
        if len(skipped) < len(legs) or any(leg.id != self.nonce for leg in legs) or len(skipped) > self.max_skipped:
            yield Mismatch("skipped", "inconsistent", "The tokens that were left out contradict what was signed.")
        elif event.user_amount < (least := total_floor(self.floors, skipped)):
            message = f"The user got {event.user_amount}, less than the {least} that was signed for these tokens."
            yield Mismatch("userAmount", "inconsistent", message)


def _paid(event: SweepExecutedV5) -> Split:
    return Split(event.gross_output, event.total_fee, event.partner_fee, event.protocol_fee, event.user_amount)


def outcome_of(event: SweepExecutedV5) -> EmittedOutcome:
    parties = PaidParties(
        event.partner_id, event.partner_recipient, event.protocol_recipient, event.partner_fee, event.protocol_fee
    )
    return EmittedOutcome(event.output_token, event.gross_output, event.total_fee, event.user_amount, parties)
