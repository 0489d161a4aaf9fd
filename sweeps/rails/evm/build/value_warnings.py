"""Warns of prices that are bad, but not so bad that a build is refused."""

from collections.abc import Iterator

from sweepapi.evm.worth.economics import value_loss_bps
from sweepapi.evm.worth.valuing import Economics, TokenEconomics
from sweepapi.price_impact import PRICE_IMPACT
from sweeps.protocol.rail import BuildWarning, is_high
from sweeps.rails.evm.build.stages import EvmPlanned

LOSS = "After the fee and its gas, this token brings {} basis points less than it is worth."
LOSS_OF_ALL = "After the fee and the gas, the sweep brings {} basis points less than its tokens are worth."
VALUE_WARNINGS = ("price_impact_high", "value_loss_high")


def value_warnings(planned: EvmPlanned) -> Iterator[BuildWarning]:
    """Yield a warning for each token, and for the output, that falls short of the mid prices by too much."""
    for token in planned.swept:
        yield from _value_warning(token.economics, token.asset, LOSS)
    yield from _value_warning(planned.economics, planned.output.asset, LOSS_OF_ALL)


def value_warning(economics: TokenEconomics | Economics) -> str | None:
    """Return the code of the warning about a token or a sweep; None if it does not fall short by too much."""
    if is_high(economics.price_impact_bps):
        return "price_impact_high"
    return "value_loss_high" if is_high(value_loss_bps(economics)) else None


def _value_warning(economics: TokenEconomics | Economics, asset: str, loss: str) -> Iterator[BuildWarning]:
    match value_warning(economics):
        case "price_impact_high" as code:
            yield BuildWarning(code, PRICE_IMPACT.format(economics.price_impact_bps), asset)
        case "value_loss_high" as code:
            yield BuildWarning(code, loss.format(value_loss_bps(economics)), asset)
