"""One call that reads pools' prices before a trade, and makes other reads, such as quotes of swaps in them.

The prices come first, because a hostile token can use up the gas of the call in a swap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.pools.pricing import PricedPool, shown
from sweepapi.evm.pools.types import Spot
from sweepapi.rpc import Call, ErrorPolicy


@dataclass(frozen=True)
class Response:
    """What the pools show, and the result of each other read; None for one that failed."""

    spots: Mapping[PricedPool, Spot]
    others: Sequence[Any]


@dataclass(frozen=True)
class Inquiry:
    """The pools and the other reads of a call."""

    pools: Sequence[PricedPool]
    others: Sequence[Read]

    @property
    def reads(self) -> list[Read]:
        """All reads, in their order."""
        return [*(read for pool in self.pools for read in pool.reads), *self.others]

    def call(self, *, multicall3: str) -> Call:
        """Return the call, whose failure is a result."""
        return multicall(multicall3=multicall3, reads=self.reads, error_policy=ErrorPolicy.EXECUTION)

    def response(self, answer: Any) -> Response:  # noqa: ANN401 - a list of decoded reads, or the failure of all
        """Return what the call answered."""
        if not isinstance(answer, list):
            return Response({}, [None] * len(self.others))
        return Response(shown(self.pools, answer), answer[len(answer) - len(self.others) :])
