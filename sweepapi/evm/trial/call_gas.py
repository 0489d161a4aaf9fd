"""Converts the gas of a sweep that was tried in one call with its approvals into that of a transaction of its own.

A transaction pays for its calldata, finds nothing warm that the approvals touched (EIP-2929), changes allowances that
were there before (EIP-2200), and is refunded for what it clears or restores (EIP-3529). The wallet measures what is
warm; refunds are counted, except those of a pool that crosses ticks, which are unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.trial.attempts import Attempt
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap

# EIP-2028 and EIP-7623.
TRANSACTION, ZERO_BYTE, OTHER_BYTE = 21_000, 4, 16
COLD_ACCOUNT = 2_600
MEASURING = 19  # what the simulation wallet adds to the gas of a call by measuring it
FLOOR_PER_ZERO_BYTE, FLOOR_PER_OTHER_BYTE = 10, 40
# At least the token and the allowance are warm after an approval.
LEAST_WARMED = 2_500 + 2_000
# Changing an allowance that was changed before costs 100 in the same transaction, in another one 2,900.
CHANGED = 2_800
PLAIN_TOKEN = LEAST_WARMED + CHANGED
# Refunds for a slot that is cleared, one that is zero again, and one with another value again, as a V2 pool's lock.
CLEARED, RESTORED_ZERO, RESTORED = 4_800, 19_900, 2_800
REFUNDED_PART = 5


@dataclass(frozen=True)
class CallResult:
    """What the simulation wallet returns: ``Outcome`` in ``SimulationWallet.sol``."""

    gas_limit: int  # zero if the sweep reverted
    gas_used: int
    returned: bytes
    warmed: Sequence[int]
    approvals_used: Sequence[int]
    allowances_left: Sequence[int]
    before: Sequence[int]  # the contract's balances of the held tokens first
    after: Sequence[int]


@dataclass(frozen=True)
class CallGas:
    """Converts between the gas of a call and that of a transaction."""

    attempt: Attempt

    @cached_property
    def limits(self) -> list[int]:
        """The limits for the call that correspond to the transaction's, for plain tokens."""
        plain = self.attempt.gas.deeper(PLAIN_TOKEN * len(self.attempt.approvals))
        return [max(limit - self._intrinsic - plain, 1) for limit in self.attempt.limits]

    @cached_property
    def held(self) -> list[str]:
        """The tokens that the contract holds during the sweep."""
        swaps, payout = self.attempt.gas.swaps, self.attempt.payout
        legs = zip(self.attempt.approvals, swaps, strict=True)
        held = [approval.token for approval, swap in legs if isinstance(swap, RouterSwap)]
        if any(isinstance(swap, PoolSwap) and swap.joined for swap in swaps):
            held.append(payout.wrapped_native)
        return [*held, payout.wrapped_native if payout.token == NATIVE_COIN else payout.token]

    @cached_property
    def floor(self) -> int:
        """The least that any transaction with this calldata costs."""
        return _with_calldata(self.attempt.calldata, FLOOR_PER_ZERO_BYTE, FLOOR_PER_OTHER_BYTE)

    def least(self, result: CallResult) -> int:
        """Return the least limit of the transaction."""
        inside = self.attempt.gas.deeper(self._more(result))
        return max(result.gas_limit + self._intrinsic + inside, self.floor)

    def used(self, result: CallResult) -> int:
        """Return what the receipt would show."""
        used = self._intrinsic + result.gas_used - self.attempt.codes_gas + self._more(result)
        return max(used - min(self._refund(result), used // REFUNDED_PART), self.floor)

    def approvals_used(self, result: CallResult) -> dict[tuple[str, str], int]:
        """Return the gas of the approvals as transactions, resets included, by token and spender.

        A transaction finds its target warm, and pays for its calldata. A reset clears what was there before.
        """
        used = {}
        for approval, gas in zip(self.attempt.approvals, result.approvals_used, strict=True):
            if approval.amounts:
                before = sum(_intrinsic(call.data) - COLD_ACCOUNT - MEASURING for call in approval.calls)
                used[approval.token, approval.spender] = gas + before - CLEARED * (len(approval.amounts) > 1)
        return used

    @cached_property
    def _intrinsic(self) -> int:
        return _intrinsic(self.attempt.calldata)

    def _more(self, result: CallResult) -> int:
        """Return what the transaction uses beyond the call, all of it where the tokens are transferred."""
        changed = sum(
            approval.current != approval.final != left
            for approval, left in zip(self.attempt.approvals, result.allowances_left, strict=True)
        )
        return sum(max(warmed, LEAST_WARMED) for warmed in result.warmed) + CHANGED * changed

    def _refund(self, result: CallResult) -> int:
        gas = self.attempt.gas
        routes = [swap.route for swap in gas.swaps if isinstance(swap, RouterSwap)]
        kinds = [swap.hop.venue.kind for swap in gas.swaps if isinstance(swap, PoolSwap)]
        kinds += [route.router.kind for route in routes for _ in route.hops]
        if gas.last_hop is not None:
            kinds.append(gas.last_hop.venue.kind)
        cleared = sum(approval.takes_all for approval in self.attempt.approvals)
        return (
            CLEARED * (cleared + result.allowances_left.count(0))
            + RESTORED * sum(SOURCES[kind].HAS_LOCK for kind in kinds)
            + RESTORED_ZERO * len(routes)  # the allowance of the router
            + sum(RESTORED if balance else RESTORED_ZERO for balance in result.before[: len(self.held)])
        )


def _intrinsic(calldata: bytes) -> int:
    return _with_calldata(calldata, ZERO_BYTE, OTHER_BYTE)


def _with_calldata(calldata: bytes, per_zero_byte: int, per_other_byte: int) -> int:
    zeros = calldata.count(0)
    return TRANSACTION + per_zero_byte * zeros + per_other_byte * (len(calldata) - zeros)
