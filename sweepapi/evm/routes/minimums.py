"""The least that each token of a plan must give: what the user signs, and what pools and routers are held to."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sweepapi.evm.pools.types import Route
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.fees import BPS_DENOMINATOR, FeeRates, floor_share


@dataclass(frozen=True)
class Minimums:
    """The minimums of a plan, under the user's slippage or under floors that were signed before."""

    plan: RoutePlan
    fees: FeeRates
    slippage_bps: int
    router_slippage_bps: int  # the most for a router leg beside other legs
    signed: Mapping[str, int] | None  # floors by token; None for a new sweep

    def min_output(self, token: str) -> int:
        """Return the least output of a token before the fee."""
        way, expected = self.plan.ways[token], self.plan.expected_output(token)
        if way.quote is None and not way.is_joined:  # unwrapped at par
            quoted = expected
        else:
            quoted = floor_share(expected, BPS_DENOMINATOR - self._slippage_bps(token))
        if self.signed is None:
            return quoted
        least = self.fees.min_output_of(self.signed[token])
        # A router takes its minimum from the call, so that can be higher than what the user signed.
        return max(least, quoted) if self._is_routed(token) else least

    def floor(self, token: str) -> int:
        """Return the least that the user signs to receive for a token, after the fee."""
        return self.fees.floor_of(self.min_output(token)) if self.signed is None else self.signed[token]

    def least_wrapped(self, token: str, *, skippable: bool) -> int:
        """Return the least that the pool of a joined token must pay in the wrapped coin.

        The last hop must give the floors of all of them together. A pool that may be skipped gets only half of the room
        that this leaves, so that it can't use up the part of the last hop and revert the whole sweep.
        """
        room = self._room_bps if skippable else 2 * self._room_bps
        return -(-self.plan.ways[token].output * (2 * BPS_DENOMINATOR - room) // (2 * BPS_DENOMINATOR))

    @cached_property
    def _room_bps(self) -> int:
        """Return how much less than quoted the last hop may give."""
        if self.plan.last is None:
            return 0
        expected = self.plan.last.expected_output
        least = sum(self.min_output(token) for token in self.plan.joined)
        return max(min(self.slippage_bps, (expected - least) * BPS_DENOMINATOR // expected), 0)

    def _slippage_bps(self, token: str) -> int:
        if self._is_routed(token) and len(self.plan.ways) > 1:
            return min(self.slippage_bps, self.router_slippage_bps)
        return self.slippage_bps

    def _is_routed(self, token: str) -> bool:
        quote = self.plan.ways[token].quote
        return quote is not None and isinstance(quote.swap, Route)
