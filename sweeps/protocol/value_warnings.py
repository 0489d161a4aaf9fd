"""Warns of prices that are bad, but not so bad that a build is refused, by one rule on every rail."""

from collections.abc import Iterable, Iterator

from django.conf import settings

from sweepapi.worth.losses import PRICE_IMPACT, Valued, value_loss_bps
from sweeps.protocol.rail import BuildWarning

LOSS = "After the fee and its gas, this token brings {} basis points less than it is worth."
LOSS_OF_ALL = "After the fee and the gas, the sweep brings {} basis points less than its tokens are worth."
VALUE_WARNINGS = ("price_impact_high", "value_loss_high")


def value_warnings(tokens: Iterable[tuple[str, Valued]], *, output: str, whole: Valued) -> Iterator[BuildWarning]:
    """Yield a warning for each token, by its asset, and for the output, that falls short of mid prices by too much."""
    for asset, economics in tokens:
        yield from _value_warning(economics, asset, LOSS)
    yield from _value_warning(whole, output, LOSS_OF_ALL)


def value_warning(economics: Valued) -> str | None:
    """Return the code of the warning about a token or a sweep; None if it does not fall short by too much."""
    if is_high(economics.price_impact_bps):
        return "price_impact_high"
    return "value_loss_high" if is_high(value_loss_bps(economics)) else None


def is_high(loss_bps: int | None) -> bool:
    return loss_bps is not None and loss_bps > settings.PRICE_IMPACT_WARNING_BPS


def _value_warning(economics: Valued, asset: str, loss: str) -> Iterator[BuildWarning]:
    match value_warning(economics):
        case "price_impact_high" as code:
            yield BuildWarning(code, PRICE_IMPACT.format(economics.price_impact_bps), asset)
        case "value_loss_high" as code:
            yield BuildWarning(code, loss.format(value_loss_bps(economics)), asset)
