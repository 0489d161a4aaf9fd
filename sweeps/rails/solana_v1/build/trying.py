"""Tries the transactions of a sweep, and finds out which tokens make one fail, or have it do more than it should.

All are simulated; if one is not proven, all once more, because the accounts before and the simulations may be of
different slots, and each of its tokens alone, in the same HTTP request.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from sweepapi.errors import FieldError, InsufficientBalance
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing.packing import Packed
from sweepapi.worth.left_out import INSUFFICIENT_BALANCE, LeftOut
from sweeps.rails.solana_v1.build.assembling import Assembly
from sweeps.rails.solana_v1.build.composing import ClusterMarket
from sweeps.rails.solana_v1.build.proving import Unproven
from sweeps.rails.solana_v1.build.stages import SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.obstacles import CANNOT_PAY

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Tried:
    """What simulations showed of some transactions."""

    transactions: Sequence[SolanaTransaction]  # empty unless all are proven
    failing: Sequence[LeftOut] = ()  # the tokens that are to blame
    apart: Collection[str] = ()  # by asset: those that are sold alone, because they fail only together
    sold_by: Mapping[int, SolanaTransaction] = field(default_factory=dict)  # what is proven, by position of the token


@dataclass(frozen=True)
class Trials:
    """Tries transactions of one assembly."""

    assembly: Assembly
    pool: ProviderPool
    market: ClusterMarket

    def all(self, tokens: Sequence[SolanaToken], packed: Sequence[Packed]) -> Tried:
        """Return what becomes of these transactions of these tokens, without those that only close accounts and fail.

        Raises ``InsufficientBalance``, and ``UnsafeSwapError`` if every token is to blame because its quote would do
        more than it should.
        """
        first = self._simulated(packed, tokens)
        unproven = [one for one in first if isinstance(one, Unproven)]
        if not unproven:
            return Tried(_proven(first))
        log.warning("simulated_again", reason=unproven[0].reason)
        # All of them, because another transaction than now may fail the second time.
        suspects = [position for one in packed if len(one.legs) > 1 for position in one.legs]
        alone = [self.assembly.alone(tokens, position, self.market) for position in suspects]
        results = self._simulated([*packed, *alone], tokens)
        again, singles = results[: len(packed)], dict(zip(suspects, results[len(packed) :], strict=True))
        needed = [result for one, result in zip(packed, again, strict=True) if one.legs or not _failed(result)]
        if not any(map(_failed, needed)):
            return Tried(_proven(needed))
        return self._blamed(tokens, packed, again, singles)

    def once(self, tokens: Sequence[SolanaToken], packed: Sequence[Packed]) -> list[SolanaTransaction]:
        """Return these transactions, without those that only close accounts and fail.

        Raises as ``all``, and ``UnsafeSwapError`` unless all others are proven.
        """
        results = self._simulated(packed, tokens)
        return _proven([one for of, one in zip(packed, results, strict=True) if of.legs or not _failed(one)])

    def _simulated(self, packed: Sequence[Packed], tokens: Sequence[SolanaToken]) -> list[SolanaTransaction | Unproven]:
        """Return what simulations show; raises ``InsufficientBalance`` if the wallet can't pay for a transaction."""
        results = self.assembly.proven(self.pool, packed, tokens, self.market)
        if any(isinstance(one, Unproven) and one.is_unpaid for one in results):
            raise InsufficientBalance(details=[FieldError("wallet", INSUFFICIENT_BALANCE, CANNOT_PAY)])
        return results

    def _blamed(
        self,
        tokens: Sequence[SolanaToken],
        packed: Sequence[Packed],
        results: Sequence[SolanaTransaction | Unproven],
        singles: dict[int, SolanaTransaction | Unproven],
    ) -> Tried:
        shown = {
            position: singles.get(position, result) if isinstance(result, Unproven) else result
            for one, result in zip(packed, results, strict=True)
            for position in one.legs
        }
        blamed = {position: result for position, result in shown.items() if isinstance(result, Unproven)}
        together = [one.legs for one, result in zip(packed, results, strict=True) if isinstance(result, Unproven)]
        apart = [position for legs in together if not blamed.keys() & set(legs) for position in legs]
        if len(blamed) == len(tokens) and all(reason.is_unsafe for reason in blamed.values()):
            raise UnsafeSwapError(next(iter(blamed.values())).reason)
        for position, reason in blamed.items():
            note_unproven(self.assembly.request.wallet, tokens[position], reason)
        return Tried(
            transactions=(),
            failing=[LeftOut.planned(tokens[at], reason.code, reason.message) for at, reason in sorted(blamed.items())],
            apart={tokens[position].asset for position in apart},
            sold_by={position: one for position, one in shown.items() if not isinstance(one, Unproven)},
        )


def note_unproven(wallet: str, token: SolanaToken, unproven: Unproven) -> None:
    """Tell operators why the sale of a token is not offered."""
    if unproven.is_unsafe:
        log.error("unsafe_swap_refused", wallet=wallet, token=token.asset, reason=unproven.reason)
    else:
        log.warning("simulation_failed", wallet=wallet, token=token.asset, reason=unproven.reason)


def _failed(result: SolanaTransaction | Unproven) -> bool:
    return isinstance(result, Unproven)


def _proven(results: Sequence[SolanaTransaction | Unproven]) -> list[SolanaTransaction]:
    """Return the transactions; raises ``UnsafeSwapError`` if one is not proven."""
    for result in results:
        if isinstance(result, Unproven):
            raise UnsafeSwapError(result.reason)
    return [one for one in results if not isinstance(one, Unproven)]
