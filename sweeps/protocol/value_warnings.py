"""Warns of prices that are bad, but not so bad that a build is refused, by one rule on every rail."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from django.conf import settings

from sweepapi.worth.losses import PRICE_IMPACT, Valued, value_loss_bps
from sweeps.protocol.rail import BuildWarning, OutputAsset

LOSS = "After the fee and what it adds to the cost, this token brings {} basis points less than it is worth."
LOSS_OF_ALL = "After the fee and the cost, the sweep brings {} basis points less than its tokens are worth."
VALUE_WARNINGS = ("price_impact_high", "value_loss_high")


class ValuedToken(Protocol):
    """A token that a sweep takes."""

    @property
    def asset(self) -> str: ...

    @property
    def economics(self) -> Valued: ...


class ValuedSweep(Protocol):
    """A planned sweep with its economics."""

    @property
    def swept(self) -> Sequence[ValuedToken]: ...

    @property
    def economics(self) -> Valued: ...

    @property
    def output(self) -> OutputAsset: ...


def value_warnings(planned: ValuedSweep) -> Iterator[BuildWarning]:
    """Yield a warning for each token, and for the output, that falls short of the mid prices by too much."""
    for token in planned.swept:
        yield from _value_warning(token.economics, token.asset, LOSS)
    yield from _value_warning(planned.economics, planned.output.asset, LOSS_OF_ALL)


def value_warning(economics: Valued) -> str | None:
    """Return the code of the warning about a token or a sweep; None if it does not fall short by too much."""
    if _is_high(economics.price_impact_bps):
        return "price_impact_high"
    return "value_loss_high" if _is_high(value_loss_bps(economics)) else None


def _is_high(loss_bps: int | None) -> bool:
    return loss_bps is not None and loss_bps > settings.PRICE_IMPACT_WARNING_BPS


def _value_warning(economics: Valued, asset: str, loss: str) -> Iterator[BuildWarning]:
    match value_warning(economics):
        case "price_impact_high" as code:
            yield BuildWarning(code, PRICE_IMPACT.format(economics.price_impact_bps), asset)
        case "value_loss_high" as code:
            yield BuildWarning(code, loss.format(value_loss_bps(economics)), asset)
