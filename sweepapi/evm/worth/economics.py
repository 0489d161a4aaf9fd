"""What a sweep is worth: each token's price impact, transfer tax and share of the gas, and what is left of it.

Gas is converted at mid prices into the output, and the output into the chain's reference stablecoin.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from sweepapi.evm.tokens.transfers import Transfers
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, leg_gas
from sweepapi.evm.worth.valuing import Economics, Rates, TokenEconomics, loss_of
from sweepapi.fees import BPS_DENOMINATOR, FeeRates, Split


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
    gas = leg_gas(token.swap)
    before = TokenEconomics(
        ideal_output=ideal,
        arriving_output=ideal if ideal is None or kept is None else ideal * kept,
        transfer_tax_bps=None if kept is None else _tax_bps(kept),
        gas_share=None if rates.data_fee is None else rates.cost(gas=gas, data_fee=rates.data_fee.per_token),
    )
    return before.at(expected_output=token.expected_output, min_output=token.min_output, fees=fees, rates=rates)


def sweep_economics(
    tokens: Sequence[TokenEconomics], rates: Rates, *, expected: Split, minimum: Split, gas: int
) -> Economics:
    """Return what a whole sweep of these tokens brings that uses this much gas."""
    ideal, arriving = _sum(one.ideal_output for one in tokens), _sum(one.arriving_output for one in tokens)
    tax_is_known = all(one.transfer_tax_bps is not None for one in tokens)
    share = None if rates.data_fee is None else rates.cost(gas=gas, data_fee=rates.data_fee.total)
    net = None if share is None else expected.user_amount - share
    return Economics(
        ideal_output=ideal,
        reference=rates.reference,
        price_impact_bps=loss_of(arriving, expected.gross_output),
        transfer_tax_bps=_tax_bps(arriving / ideal) if ideal and arriving is not None and tax_is_known else None,
        value=rates.value(expected.gross_output),
        min_value=rates.value(minimum.gross_output),
        gas=gas,
        gas_price=rates.gas_price,
        data_fee=None if rates.data_fee is None else rates.data_fee.total,
        gas_share=share,
        gas_value=rates.value(share),
        net_output=net,
        net_value=rates.value(net),
    )


def value_loss_bps(economics: TokenEconomics | Economics) -> int | None:
    """Return how much less than the mid prices a token or a sweep brings after tax, impact, fee and gas."""
    return loss_of(economics.ideal_output, economics.net_output)


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
