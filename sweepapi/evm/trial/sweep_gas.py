"""The gas of a sweep: the limits to try in its simulation, the limit to send it with, and what it uses.

Every pool is called inside the callback of the one before, and the innermost callback transfers all tokens. A call
passes on at most 63/64 of the gas that is left (EIP-150), so each pool adds two frames that keep a part. With many legs
the least limit is therefore far above what the receipt shows, and it grows faster than their number.

The simulation finds the least limit with which the user's own call goes through. The figures below say where to start,
what a signature adds to it, and what to send where nothing can be simulated. They were measured on the local chain;
``tests/sweeps/rails/evm/test_gas.py`` compares them with what sweeps need.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.pools.leg_gas import LAST_HOP as USED_BY_LAST_HOP
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, leg_gas

TRANSACTION_CAP = 16_777_216  # EIP-7825

# The least limit for plain tokens.
FIXED = 97_000
PER_TOKEN = 2_000
PULL = 63_000
PULL_PER_TOKEN = 33_400
LAST_HOP = 48_700  # in addition to its pool
ROUTER_CALL = 200_000  # with its approvals and two hops
START_PERCENT = 92  # a pool that stays within its tick needs less
FINE_STEPS, COARSE_STEPS = 18, 12  # of 2 and of 4 percent, up to twice the least of plain tokens
MARGIN_PERCENT = 2  # for the figures below, and for pools in which others trade before
UNTRIED_PERCENT = 160  # for tokens that do more in a transfer and pools that cross ticks

# What Permit2's batch transfer and the user's signature use beyond transfers from allowances of the contract.
PERMIT2 = 35_600
PERMIT2_PER_TOKEN = 1_610
USED_WORD = 17_100  # saved if the word of the nonce has a bit already
CONTRACT_SIGNATURE = 100_000  # what the account's code may use to check the signature (EIP-1271)
TOKEN_PERMIT = 64_000  # a signature check, a nonce and an allowance that were zero, behind a proxy

# A V3 pool that was emptied walks through words of 256 empty ticks up to the leg's price limit before it is left out.
EMPTY_WORD = 7_500
TICKS_TO_LIMIT = 13_864 + 256  # to a quarter of the price, and what is left of the first word
TICK_SPACINGS = {100: 1, 500: 10, 2500: 50, 3000: 60, 10_000: 200}  # by fee tier; unknown ones are taken for the finest

# What a receipt shows, measured like the above.
USED_FIXED = 135_000


@dataclass(frozen=True)
class SweepGas:
    """A sweep, as far as its gas depends on it."""

    swaps: Sequence[LegSwap]  # of the legs that are not dropped, in order
    last_hop: PoolHop | None
    signed_token_count: int  # of the user's permit, with the dropped ones
    skippable: Sequence[PoolHop]  # the pools that may be left out
    max_skipped: int
    has_used_word: bool  # whether the word of the permit's nonce has a bit already
    has_code: bool  # whether the user's account has code, which checks the signature
    tried_least: int | None  # the least limit with which a simulation of the user's own call went through
    tried_used: int | None  # what that call used
    untried: int  # what the sweep uses before its pools that the simulation did not

    @property
    def limits_to_try(self) -> list[int]:
        """Rising limits for the sweep as the user's own call; the first that suffices is close to the least."""
        limits = [self._expected_least() * START_PERCENT // 100]
        for percent in [2] * FINE_STEPS + [4] * COARSE_STEPS:
            limits.append(limits[-1] * (100 + percent) // 100)
        return [*(limit for limit in limits if limit < TRANSACTION_CAP), TRANSACTION_CAP]

    @property
    def limit_as_caller(self) -> int:
        """The limit to send the sweep with as the user's own call."""
        if self.tried_least is None:
            least = self._expected_least() * UNTRIED_PERCENT // 100
        else:
            least = self.tried_least * (100 + MARGIN_PERCENT) // 100
        return min(least + self.untried + self.deeper(self._walks), TRANSACTION_CAP)

    def limit_of_signed(self, least: int) -> int:
        """Return the limit to send a signed transaction with that goes through with this one."""
        return min(least * (100 + MARGIN_PERCENT) // 100 + self.deeper(self._walks), TRANSACTION_CAP)

    def limit(self, *, token_permits: int = 0) -> int:
        """Return the limit to send the sweep with under the user's Permit2 signature, after permits of tokens."""
        signed = self._permit2 + TOKEN_PERMIT * token_permits + (CONTRACT_SIGNATURE if self.has_code else 0)
        return min(self.limit_as_caller + self.deeper(signed), TRANSACTION_CAP)

    @property
    def used(self) -> int:
        """What the receipt of the sweep under the user's Permit2 signature will show."""
        return self.used_as_caller + self._permit2

    @property
    def used_as_caller(self) -> int:
        """What the receipt of the sweep as the user's own call will show."""
        if self.tried_used is not None:
            return self.tried_used + self.untried
        return USED_FIXED + self.used_by_last_hop + sum(leg_gas(swap) for swap in self.swaps)

    @property
    def used_by_last_hop(self) -> int:
        """What the last hop adds; zero without one."""
        return USED_BY_LAST_HOP if self.last_hop is not None else 0

    def deeper(self, gas: int) -> int:
        """Return how much higher the limit has to be if this much more is used inside all pools."""
        return self._expected_least(also=gas) - self._expected_least()

    def _expected_least(self, *, also: int = 0) -> int:
        """Return the least limit for plain tokens; ``also`` is further gas that is used inside all pools.

        A pool and its callback are two frames, each of which keeps a 64th of the gas for itself. The pool needs what
        they keep, or what it uses after the callback, whichever is more. The routers can use again what was kept.
        """
        needed = PULL + PULL_PER_TOKEN * len(self.swaps) + also
        hops = [swap.hop.venue.kind for swap in self.swaps if isinstance(swap, PoolSwap)]
        if self.last_hop is not None:
            hops.append(self.last_hop.venue.kind)
            needed += LAST_HOP
        used = needed + ROUTER_CALL * sum(isinstance(swap, RouterSwap) for swap in self.swaps)
        for source in [SOURCES[kind] for kind in reversed(hops)]:
            needed = source.BEFORE_CALLBACK + max(needed * 64**2 // 63**2, needed + source.AFTER_CALLBACK)
            used += source.BEFORE_CALLBACK + source.AFTER_CALLBACK
        return FIXED + PER_TOKEN * len(self.swaps) + max(needed, used)

    @property
    def _permit2(self) -> int:
        return PERMIT2 + PERMIT2_PER_TOKEN * self.signed_token_count - (USED_WORD if self.has_used_word else 0)

    @property
    def _walks(self) -> int:
        """What it costs at most to leave out as many emptied pools as the user allows."""
        tiers = [hop.fee_tier for hop in self.skippable if hop.fee_tier is not None]
        words = [-(-TICKS_TO_LIMIT // (256 * TICK_SPACINGS.get(tier, 1))) for tier in tiers]
        return EMPTY_WORD * sum(sorted(words, reverse=True)[: self.max_skipped])
