"""What V4's event must say about a sweep: user and ``sweepRef`` identify it, and nothing was signed by the service.

A user can execute the reference with a permit of their own, at any time and on other terms. That counts if the event
matches, also if it paid or took less than was quoted; otherwise the reference is taken, and the sweep can't be executed
any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.batch import SkippedLeg
from sweepapi.evm.contracts.v4 import EXECUTED_TOPIC, IS_SWEEP_REF_USED, SweepExecutedV4, decode_executed
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.logs.log_query import Topics
from sweepapi.evm.logs.log_search import Event
from sweepapi.fees import Split
from sweeps.protocol.rail import Ended, Ending, Executed, FeeTerms, Mismatch
from sweeps.rails.evm.follow.emitted import executions, skipped_tokens, total_floor
from sweeps.rails.evm.follow.followed import Match
from sweeps.rails.evm.follow.following import SWEEP_REF_USED
from sweeps.store.stored import StoredSweep

UUID_VERSION = 7  # of the ids of sweeps


def sweep_ref_of(sweep_id: UUID) -> str:
    """Return the reference of a sweep at the contract: the UUID's 16 bytes and 16 zero bytes, as 0x and 64 digits."""
    return f"0x{sweep_id.hex}{'00' * 16}"


def sweep_id_of(sweep_ref: str) -> UUID | None:
    """Return the sweep of a reference; None if the service can't have made it."""
    sweep_id = UUID(sweep_ref[2:34])
    return sweep_id if sweep_id.version == UUID_VERSION and sweep_ref == sweep_ref_of(sweep_id) else None


@dataclass(frozen=True)
class V4Terms:
    """The values that an event must match."""

    sweep_ref: str
    user: str
    output_token: str
    tokens: tuple[str, ...]
    floors: tuple[int, ...]
    fees: FeeTerms  # the contract does not know the partner's share

    identity = "sweepRef"
    used_flag = SWEEP_REF_USED

    @classmethod
    def of(cls, stored: StoredSweep) -> "V4Terms":
        """Return the terms of a sweep and its only execution."""
        sweep, (execution,) = stored.sweep, stored.executions
        return cls(
            sweep_ref=execution.execution_id,
            user=sweep.wallet,
            output_token=sweep.output_asset,
            tokens=tuple(token.asset for token in stored.tokens),
            floors=tuple(sweep.permit.floors),
            fees=FeeTerms.of(sweep),
        )

    @property
    def topics(self) -> Topics:
        return (EXECUTED_TOPIC, self.sweep_ref, f"0x{self.user[2:].lower():0>64}")

    def is_used(self, contract: str) -> Read:
        return Read(contract, IS_SWEEP_REF_USED, (self.user, bytes.fromhex(self.sweep_ref[2:])))

    def read(self, log: Log) -> Event | None:
        """Return a matching execution as a hint, and what differs in any other: it took the reference."""
        event = decode_executed(log)
        if event is None or not self._is_ours(event):
            return None
        mismatches = self._mismatches(event)
        if not mismatches:
            return Event(None, is_hint=True)
        return Event(Ended(Ending.TAKEN, " ".join(one.message for one in mismatches)), is_hint=False)

    def match(self, logs: Sequence[Log]) -> Match:
        found = list(executions(logs, decode_executed))
        if not found:
            return Match([Mismatch("event", "missing", "The contract emitted no SweepExecutedV4.")])
        ours = next(((event, legs) for event, legs in found if self._is_ours(event)), None)
        if ours is None:
            return Match([Mismatch("sweepRef", "differs", "The event belongs to another sweep or another user.")])
        event, legs = ours
        mismatches = self._mismatches(event)
        return Match(mismatches, None if mismatches else self._executed(event, legs))

    def _executed(self, event: SweepExecutedV4, legs: Sequence[SkippedLeg]) -> Executed:
        skipped = skipped_tokens(legs, self.tokens)
        is_below_minimum = event.user_amount < total_floor(self.floors, skipped)
        return Executed(self._paid(event), skipped, is_below_minimum=is_below_minimum)

    def _is_ours(self, event: SweepExecutedV4) -> bool:
        return (event.sweep_ref, event.user) == (self.sweep_ref, self.user)

    def _mismatches(self, event: SweepExecutedV4) -> list[Mismatch]:
        pairs = {
            "outputToken": (event.output_token, self.output_token),
            "tokenCount": (event.token_count, len(self.tokens)),
        }
        mismatches = [
            Mismatch(name, "differs", f"{name}: the event has {seen}, the sweep {built}.")
            for name, (seen, built) in pairs.items()
            if seen != built
        ]
        if event.fee + event.user_amount != event.gross_output:
            mismatches.append(Mismatch("amounts", "inconsistent", "The event's amounts do not add up."))
        elif event.fee != self._paid(event).total_fee:  # the contract's fee was changed, and the user signed that one
            mismatches.append(
                Mismatch("fee", "differs", f"fee: the event has {event.fee}, not {self.fees.total_fee_bps} bps.")
            )
        return mismatches

    def _paid(self, event: SweepExecutedV4) -> Split:
        """Return the split of the gross output; the contract pays the whole fee to the protocol."""
        return self.fees.split(event.gross_output)
