"""What a sweep is worth: each token's price impact, transfer tax and added gas, and what is left of it.

Gas is converted at mid prices into the output, and the output into the chain's reference stablecoin.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Protocol

from sweepapi.evm.tokens.transfers import Transfers
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, leg_gas
from sweepapi.evm.worth.valuing import Economics, Rates, TokenEconomics
from sweepapi.fees import BPS_DENOMINATOR, FeeRates, Split
from sweepapi.worth.losses import loss_of
from sweepapi.worth.summary import SummaryValues, summary


class SweptToken(Protocol):
    """A token as a sweep has it; outputs are before the fee."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def expected_output(self) -> int: ...

    @property
    def min_output(self) -> int: ...

    @property
    def swap(self) -> LegSwap | None: ...


def token_economics(token: SweptToken, rates: Rates, transfers: Transfers, fees: FeeRates) -> TokenEconomics:
    """Return what one token brings."""
    price, kept = rates.prices.along(_path(token, rates.output)), _kept(token, rates, transfers)
    ideal = None if price is None else token.amount * price
    before = TokenEconomics(
        ideal_output=ideal,
        arriving_output=ideal if ideal is None or kept is None else ideal * kept,
        transfer_tax_bps=None if kept is None else _tax_bps(kept),
        gas=leg_gas(token.swap),
    )
    return before.at(expected_output=token.expected_output, min_output=token.min_output, fees=fees, rates=rates)


@dataclass(frozen=True)
class WayCost:
    """What the user pays for one way to execute a sweep."""

    kind: str
    gas: int
    data_fee: int | None  # wei, in addition to the gas; None if it could not be read


def sweep_economics(
    tokens: Sequence[TokenEconomics], rates: Rates, *, expected: Split, minimum: Split, cost: WayCost
) -> Economics:
    """Return what a whole sweep of these tokens brings for this cost."""
    ideal, arriving = _sum(one.ideal_output for one in tokens), _sum(one.arriving_output for one in tokens)
    tax_is_known = all(one.transfer_tax_bps is not None for one in tokens)
    share = None if cost.data_fee is None else rates.cost(gas=cost.gas, data_fee=cost.data_fee)
    net = None if share is None else expected.user_amount - share
    return Economics(
        ideal_output=ideal,
        execution=cost.kind,
        reference=rates.reference,
        price_impact_bps=loss_of(arriving, expected.gross_output),
        transfer_tax_bps=_tax_bps(arriving / ideal) if ideal and arriving is not None and tax_is_known else None,
        value=rates.value(expected.gross_output),
        min_value=rates.value(minimum.gross_output),
        gas=cost.gas,
        gas_price=rates.gas_price,
        data_fee=cost.data_fee,
        cost=None if cost.data_fee is None or rates.gas_price is None else cost.gas * rates.gas_price + cost.data_fee,
        gas_share=share,
        gas_value=rates.value(share),
        net_output=net,
        net_value=rates.value(net),
        summary=summary(
            len(tokens),
            rates.reference,
            SummaryValues(
                worth=None if ideal is None else rates.value(floor(ideal)),
                cost=rates.value(share),
                received=rates.value(expected.user_amount),
            ),
            paid_for="gas",
        ),
    )


def _sum(outputs: Iterable[Fraction | None]) -> Fraction | None:
    """Return the sum; None if one of them is not known."""
    known = Fraction(0)
    for output in outputs:
        if output is None:
            return None
        known += output
    return known


def _tax_bps(kept: Fraction) -> int:
    return round((1 - kept) * BPS_DENOMINATOR)


def _path(token: SweptToken, output: str) -> Sequence[str]:
    match token.swap:
        case RouterSwap(route=route):
            return route.path
        case PoolSwap(hop=hop):
            return (token.asset, hop.token_out, output)
        case _:
            return (token.asset, output)


def _kept(token: SweptToken, rates: Rates, transfers: Transfers) -> Fraction | None:
    """Return which part of a token's amount reaches its first pool; None if that was not tested."""
    if token.asset == rates.wrapped:
        return Fraction(1)
    match token.swap:
        case RouterSwap(route=route):
            return transfers.kept(token.asset, route.pools[0])
        case PoolSwap(hop=hop):
            return transfers.kept(token.asset, hop.pool)
        case _:
            return None
