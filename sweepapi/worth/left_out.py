"""The tokens that a sweep can't take or that are not worth it, each with the reason, on every network."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from sweepapi.worth.losses import PRICE_IMPACT

NO_ROUTE = "no_route"
INSUFFICIENT_BALANCE = "insufficient_balance"
SIMULATION_FAILED = "simulation_failed"
NOT_HELD = "The wallet holds {balance}, less than the amount."
ROUNDS_TO_ZERO = "The minimum output of this amount rounds to zero."
UNECONOMIC = "It adds {share} to the cost, {loss} more than it brings after the fee, both in the output token."


class TokenWorth(Protocol):
    """What a token brings."""

    @property
    def value(self) -> int | None: ...

    @property
    def gas(self) -> int | None: ...

    @property
    def gas_share(self) -> int | None: ...

    @property
    def price_impact_bps(self) -> int | None: ...

    @property
    def net_output(self) -> int | None: ...


class PlannedToken(Protocol):
    """A token that could be swapped; outputs are before the fee."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def expected_output(self) -> int: ...

    @property
    def floor(self) -> int:
        """The least that the user receives for it after the fee."""
        ...

    @property
    def economics(self) -> TokenWorth: ...


@dataclass(frozen=True)
class LeftOut:
    """A token of the request that the sweep does not take."""

    asset: str
    amount: int
    reason: str  # a stable code
    message: str
    expected_output: int | None = None  # this and the next two are None if it can't be swapped
    value: int | None = None  # of it in the reference stablecoin
    gas: int | None = None  # that it would add; None on Solana

    @classmethod
    def planned(cls, token: PlannedToken, reason: str, message: str) -> "LeftOut":
        """Return a token that could be swapped."""
        economics = token.economics
        return cls(token.asset, token.amount, reason, message, token.expected_output, economics.value, economics.gas)


def costs_more(economics: TokenWorth) -> bool:
    """Return whether the user's part of the output is known to be worth less than what the token adds to the cost."""
    return economics.net_output is not None and economics.net_output < 0


def uneconomic(tokens: Iterable[PlannedToken], *, accepted: bool = False) -> Iterator[LeftOut]:
    """Yield the tokens that cost more than they bring, unless that is accepted, or whose minimum rounds to zero."""
    for token in tokens:
        if costs_more(token.economics) and not accepted:
            message = UNECONOMIC.format(share=token.economics.gas_share, loss=-(token.economics.net_output or 0))
            yield LeftOut.planned(token, "uneconomic", message)
        elif token.floor == 0:
            yield LeftOut.planned(token, "output_too_small", ROUNDS_TO_ZERO)


def far_below_price(tokens: Iterable[PlannedToken], *, most_bps: int) -> Iterator[LeftOut]:
    """Yield the tokens whose price impact is more than this."""
    for token in tokens:
        impact_bps = token.economics.price_impact_bps or 0
        if impact_bps > most_bps:
            yield LeftOut.planned(token, "price_impact_too_high", PRICE_IMPACT.format(impact_bps))
