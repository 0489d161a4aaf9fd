"""What must hold between the figures of an offer on every rail; each answer passes here before it is shown.

A contradiction is a mistake of ours. The request fails with an internal error, and nothing of it is stored.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from sweepapi.fees import FeeRates, Split
from sweepapi.worth.summary import Reference


class PricesOfSweep(Protocol):
    """The prices of a sweep."""

    @property
    def reference(self) -> Reference | None: ...

    def value(self, amount: int | None, /) -> int | None: ...


class FiguresOfToken(Protocol):
    """What one token brings."""

    @property
    def value(self) -> int | None: ...

    @property
    def min_value(self) -> int | None: ...

    @property
    def gas_share(self) -> int | None: ...

    @property
    def net_output(self) -> int | None: ...


class OfferedToken(Protocol):
    """A token of an offer, with its expected and minimum output before the fee."""

    @property
    def asset(self) -> str: ...

    @property
    def expected_output(self) -> int: ...

    @property
    def min_output(self) -> int: ...

    @property
    def economics(self) -> FiguresOfToken: ...


class FiguresOfSweep(Protocol):
    """What a whole sweep brings."""

    @property
    def value(self) -> int | None: ...

    @property
    def gas_share(self) -> int | None: ...

    @property
    def net_output(self) -> int | None: ...


class FiguresOfOffer(Protocol):
    """What is offered."""

    @property
    def fees(self) -> FeeRates: ...

    @property
    def rates(self) -> PricesOfSweep: ...

    @property
    def tokens(self) -> Sequence[OfferedToken]: ...

    @property
    def swept(self) -> Sequence[OfferedToken]: ...

    @property
    def expected(self) -> Split: ...

    @property
    def minimum(self) -> Split: ...


class ContradictoryOfferError(Exception):
    """Figures of an offer contradict each other; nothing of it was shown or stored."""


def require_none(contradictions: Iterable[str]) -> None:
    """Raise ``ContradictoryOfferError`` if there are contradictions."""
    found = list(contradictions)
    if found:
        raise ContradictoryOfferError("; ".join(found))


def contradictions_of(offer: FiguresOfOffer, *, rounding: int) -> Iterator[str]:
    """Yield what contradicts itself among the tokens and the totals of an offer.

    By so many units of the output may what is expected fall short, because fees are rounded more than once.
    """
    for token in offer.tokens:
        if not 0 <= token.min_output <= token.expected_output:
            yield f"the minimum of {token.asset}, {token.min_output}, is above the expected {token.expected_output}"
    for token in offer.swept:
        yield from _of_worth(offer, token)
    if offer.minimum.user_amount > offer.expected.user_amount + rounding:
        yield "a total minimum is above what is expected"


def contradictions_of_economics(offer: FiguresOfOffer, economics: FiguresOfSweep, by: str) -> Iterator[str]:
    """Yield what contradicts itself between an offer and its economics; ``by`` names the way that they are of."""
    user_amount = offer.expected.user_amount
    if economics.value != offer.rates.value(offer.expected.gross_output):
        yield f"the value by {by} is at other prices"
    if economics.gas_share is not None and economics.net_output != user_amount - economics.gas_share:
        yield f"by {by} {economics.net_output} is left of {user_amount} after {economics.gas_share}"


def _of_worth(offer: FiguresOfOffer, token: OfferedToken) -> Iterator[str]:
    economics, value = token.economics, offer.rates.value
    if economics.value != value(token.expected_output) or economics.min_value != value(token.min_output):
        yield f"the values of {token.asset} are of other outputs or at other prices"
    if economics.gas_share is not None:
        net = offer.fees.floor_of(token.expected_output) - economics.gas_share
        if economics.net_output != net:
            yield f"{token.asset} leaves {net}, not {economics.net_output}"
