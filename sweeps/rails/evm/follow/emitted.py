"""What the events of our contracts say, and which legs each execution left out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from sweepapi.evm.contracts.batch import SkippedLeg, SkipReason, decode_skipped
from sweepapi.evm.encoding.responses import Log
from sweeps.models import Cause, SkippedToken, Sweep
from sweeps.protocol.rail import Skipped

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EventT = TypeVar("EventT")


@dataclass(frozen=True)
class PaidParties:
    """Whom a contract paid the fee that knows partners."""

    partner_id: str  # the partner's ``onchain_id``
    partner_recipient: str
    protocol_recipient: str
    partner_fee: int
    protocol_fee: int


@dataclass(frozen=True)
class EmittedOutcome:
    """What an execution brought, in the output token's smallest unit."""

    output_token: str
    gross_output: int
    total_fee: int
    user_amount: int
    parties: PaidParties | None  # None on V4, which pays the whole fee to the protocol


@dataclass(frozen=True)
class Emitted:
    """An event about an execution, of any version of our contract."""

    name: str  # in Solidity
    execution_id: str
    user: str | None  # None unless the event is that of an execution
    facts: Mapping[str, str]  # all values, by their names
    outcome: EmittedOutcome | None = None  # as user


_REASONS = {
    SkipReason.DROPPED: SkippedToken.Reason.DROPPED,
    SkipReason.BELOW_LEAST: SkippedToken.Reason.BELOW_LEAST,
    SkipReason.NOT_FILLED: SkippedToken.Reason.NOT_FILLED,
}


def facts(event: "DataclassInstance") -> dict[str, str]:
    """Return all values of a decoded event as text, by their names."""
    return {name: str(value) for name, value in asdict(event).items()}


def executions(
    logs: Iterable[Log], decode: Callable[[Log], EventT | None]
) -> Iterator[tuple[EventT, Sequence[SkippedLeg]]]:
    """Yield the event of each execution with the legs that it left out, from the contract's logs in their order.

    A sweep reports the legs before itself, and runs nothing of another sweep in between.
    """
    skipped: list[SkippedLeg] = []
    for log in logs:
        event = decode(log)
        if event is not None:
            yield event, skipped
            skipped = []
        elif (leg := decode_skipped(log)) is not None:
            skipped.append(leg)


def skipped_tokens(legs: Iterable[SkippedLeg], tokens: Sequence[str]) -> tuple[Skipped, ...]:
    """Return which of these tokens were left out, in their order; legs of other tokens are ignored."""
    reasons = {leg.leg: _REASONS[leg.reason] for leg in legs if tokens[leg.leg : leg.leg + 1] == (leg.token,)}
    return tuple(Skipped(position, reasons[position]) for position in sorted(reasons))


def total_floor(floors: Sequence[int], skipped: Iterable[Skipped]) -> int:
    """Return the least that the user receives for the tokens that were not left out."""
    left_out = {one.position for one in skipped}
    return sum(floor for position, floor in enumerate(floors) if position not in left_out)


def token_count(sweep: Sweep) -> str:
    """Return how many tokens the event of a sweep counts; of an adopted one that is all that is known of them."""
    if not sweep.is_adopted:
        return str(sweep.tokens.count())
    count: str = sweep.events.get(cause=Cause.ADOPTED).facts["token_count"]
    return count
