"""Reads from the logs of a contract which legs each of its executions left out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sweepapi.evm.batch import SkippedLeg, SkipReason, decode_skipped
from sweepapi.evm.responses import Log
from sweeps.models import SkippedToken
from sweeps.rails.rail import Skipped

EventT = TypeVar("EventT")

_REASONS = {
    SkipReason.DROPPED: SkippedToken.Reason.DROPPED,
    SkipReason.BELOW_LEAST: SkippedToken.Reason.BELOW_LEAST,
    SkipReason.NOT_FILLED: SkippedToken.Reason.NOT_FILLED,
}


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
