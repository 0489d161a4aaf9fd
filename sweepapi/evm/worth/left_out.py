"""The tokens that a sweep can't take or that are not worth their gas, each with the reason."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.tokens.transfers import TransferProblem
from sweepapi.evm.worth.economics import SweptToken
from sweepapi.evm.worth.valuing import TokenEconomics
from sweepapi.price_impact import PRICE_IMPACT

NOT_A_TOKEN = ("not_a_token", "This is not the address of an ERC-20 token.")
PROBLEMS = {
    TransferProblem.NO_ROUTE: ("no_route", "No pool or router can swap this amount."),
    TransferProblem.SHORT: (
        "transfer_fee",
        "The token charges a fee on transfer, and no router can swap what arrives.",
    ),
    TransferProblem.REFUSED_AT_POOL: (
        "transfer_refused",
        "The token refuses transfers from or to the pool of its route.",
    ),
    TransferProblem.REFUSED_AT_HOLDER: ("transfer_refused", "The token refuses transfers from or to this wallet."),
}
NOT_HELD = "The wallet holds {balance}, less than the amount."
ROUNDS_TO_ZERO = "The minimum output of this amount rounds to zero."
TAKES_OTHERS = "Its sale takes other tokens of the wallet as well: {}."
UNECONOMIC = "Its output of {output} is worth less than the gas that it adds, {gas_share} in the output token."


class RequestedToken(Protocol):
    """A token and its amount, as requested."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...


class PlannedToken(SweptToken, Protocol):
    """A token that has a way."""

    @property
    def floor(self) -> int: ...

    @property
    def economics(self) -> TokenEconomics: ...


@dataclass(frozen=True)
class LeftOut:
    """A token of the request that the sweep does not take."""

    asset: str
    amount: int
    reason: str  # a stable code
    message: str
    expected_output: int | None = None  # this and the next two are None if it can't be swapped
    value: int | None = None  # of it in the reference stablecoin
    gas: int | None = None  # that it would add

    @classmethod
    def planned(cls, token: PlannedToken, reason: str, message: str) -> "LeftOut":
        """Return a token that could be swapped."""
        economics = token.economics
        return cls(token.asset, token.amount, reason, message, token.expected_output, economics.value, economics.gas)


def unswappable(
    tokens: Iterable[RequestedToken],
    facts: Mapping[str, TokenFacts],
    problems: Mapping[str, TransferProblem],
    *,
    must_be_held: bool,
) -> Iterator[LeftOut]:
    """Yield what is not a token, what has no way, and with ``must_be_held`` what the wallet holds too little of."""
    for token in tokens:
        known = facts.get(token.asset)
        if known is None:
            yield LeftOut(token.asset, token.amount, *NOT_A_TOKEN)
        elif token.asset in problems:
            yield LeftOut(token.asset, token.amount, *PROBLEMS[problems[token.asset]])
        elif must_be_held and known.balance < token.amount:
            yield LeftOut(token.asset, token.amount, "insufficient_balance", NOT_HELD.format(balance=known.balance))


def uneconomic(tokens: Iterable[PlannedToken], *, accepted: bool = False) -> Iterator[LeftOut]:
    """Yield the tokens that cost more gas than they bring, unless that is accepted, or whose minimum rounds to zero."""
    for token in tokens:
        if token.economics.is_uneconomic and not accepted:
            message = UNECONOMIC.format(output=token.expected_output, gas_share=token.economics.gas_share)
            yield LeftOut.planned(token, "uneconomic", message)
        elif token.floor == 0:
            yield LeftOut.planned(token, "output_too_small", ROUNDS_TO_ZERO)


def far_below_price(tokens: Iterable[PlannedToken], *, most_bps: int) -> Iterator[LeftOut]:
    """Yield the tokens whose price impact is more than this."""
    for token in tokens:
        impact_bps = token.economics.price_impact_bps or 0
        if impact_bps > most_bps:
            yield LeftOut.planned(token, "price_impact_too_high", PRICE_IMPACT.format(impact_bps))
