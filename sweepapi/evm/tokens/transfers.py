"""What the probes of a token's transfers mean for its swap.

Pools of a venue must receive exactly what is sent. Of a token that delivers less, because it charges a fee or rounds,
some routers swap what arrives.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property

from sweepapi.evm.tokens.probe import Probe, TransferTest

# Tokens that count in shares may deliver this many units less than others at the same rate.
ROUNDING_UNITS = 2


class TransferProblem(Enum):
    """Why a token can't be swapped in a pool."""

    NO_ROUTE = "no_route"  # no pool or router can swap the amount
    SHORT = "short"  # it delivers another amount than was sent
    REFUSED_AT_POOL = "refused_at_pool"
    REFUSED_AT_HOLDER = "refused_at_holder"


@dataclass(frozen=True)
class Arrival:
    """How much of a swept token arrives where a router swaps it, in the token's smallest unit."""

    at_contract: int
    at_pool: int


@dataclass(frozen=True)
class Transfers:
    """The results of the probes of a sweep."""

    results: Mapping[Probe, TransferTest | None]  # None if the token refused

    def problem(self, token: str, pool: str) -> TransferProblem | None:
        """Return the most severe problem of the token at its user and at this pool; None if every test passed."""
        results = dict(self._of(token, pool))
        if any(result is not None and result.taxed for result in results.values()):
            return TransferProblem.SHORT
        failed = [probe for probe, result in results.items() if result is None]
        if not failed:
            return None
        return (
            TransferProblem.REFUSED_AT_POOL
            if any(probe.is_pool for probe in failed)
            else TransferProblem.REFUSED_AT_HOLDER
        )

    def arrival(self, token: str, amount: int, pool: str) -> Arrival | None:
        """Return what arrives of an amount that the user sends to the contract, and its router to this pool.

        None if a transfer fails, or if no holder had anything to send.
        """
        tests = self._tests(token, pool)
        if tests is None:
            return None
        to_contract, to_pool = tests
        at_contract = _delivered(amount, to_contract.sent, to_contract.received)
        return Arrival(at_contract, _delivered(at_contract, to_pool.received, to_pool.received_back))

    def kept(self, token: str, pool: str) -> Fraction | None:
        """Return which part of an amount arrives in this pool by way of the contract; None as of ``arrival``."""
        tests = self._tests(token, pool)
        if tests is None:
            return None
        to_contract, to_pool = tests
        kept = Fraction(to_contract.received * to_pool.received_back, to_contract.sent * to_pool.received)
        return min(kept, Fraction(1))

    def _tests(self, token: str, pool: str) -> tuple[TransferTest, TransferTest] | None:
        """Return the tests of the transfers to the contract and from there to this pool."""
        tests = {probe.is_pool: result for probe, result in self._of(token, pool)}
        at_pool, at_user = tests.get(True), tests.get(False, tests.get(True))
        if at_pool is None or at_user is None:
            return None
        sender = at_user if at_user.sent else at_pool
        return (sender, at_pool) if sender.sent and at_pool.received else None

    def _of(self, token: str, pool: str) -> Iterator[tuple[Probe, TransferTest | None]]:
        for probe, result in self._by_token.get(token, ()):
            if not probe.is_pool or probe.holder == pool:
                yield probe, result

    @cached_property
    def _by_token(self) -> dict[str, list[tuple[Probe, TransferTest | None]]]:
        grouped = defaultdict(list)
        for probe, result in self.results.items():
            grouped[probe.token].append((probe, result))
        return grouped


def _delivered(amount: int, sent: int, received: int) -> int:
    return amount if received == sent else max(min(amount, amount * received // sent) - ROUNDING_UNITS, 0)
