"""How far below the mid prices a token or a sweep sells, in the same words on every network."""

from fractions import Fraction
from typing import Protocol

from sweepapi.fees import BPS_DENOMINATOR

PRICE_IMPACT = "The price impact is {} basis points."


class Valued(Protocol):
    """What a token or a sweep brings, in the output token."""

    @property
    def ideal_output(self) -> Fraction | None: ...

    @property
    def net_output(self) -> int | None: ...

    @property
    def price_impact_bps(self) -> int | None: ...


def loss_bps(*, ideal: Fraction, actual: int) -> int:
    """Return how much less than the ideal there is, rounded up; zero if there is more."""
    if actual >= ideal:
        return 0
    return -((actual - ideal) * BPS_DENOMINATOR // ideal)


def loss_of(ideal: Fraction | None, actual: int | None) -> int | None:
    """Return how much less than ideal an output is, in basis points; None if either is not known."""
    return None if not ideal or actual is None else loss_bps(ideal=ideal, actual=actual)


def value_loss_bps(economics: Valued) -> int | None:
    """Return how much less than the mid prices a token or a sweep brings after impact, fee and all that it costs."""
    return loss_of(economics.ideal_output, economics.net_output)
