"""The prices at which a sweep is valued, and the figures of what it is worth, which ``economics`` computes.

A figure is None if something that it needs is not known, such as a price where no listed pool has liquidity.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from sweepapi.evm.chain.fee_models.estimates import DataFee
from sweepapi.evm.market.reading import Market, MarketFacts
from sweepapi.evm.pools.pricing import MidPrices
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.fees import FeeRates
from sweepapi.worth.losses import loss_of
from sweepapi.worth.summary import Reference


@dataclass(frozen=True)
class Rates:
    """The mid prices of a sweep, and what its transaction costs."""

    prices: MidPrices
    wrapped: str
    output: str  # an ERC-20, as in ``Market``
    reference: Reference | None  # None if the chain's is not a token
    gas_price: int | None  # wei
    data_fee: DataFee | None  # None if it could not be read

    @classmethod
    def of(cls, market: Market, facts: MarketFacts, quotes: Quotes) -> "Rates":
        chain = market.chain
        known = facts.tokens.get(chain.reference_token)
        return cls(
            prices=quotes.prices,
            wrapped=chain.wrapped_native,
            output=market.output,
            reference=None if known is None else Reference(chain.reference_token, known.symbol, known.decimals),
            gas_price=None if facts.gas_price is None else facts.gas_price.wei,
            data_fee=quotes.data_fee,
        )

    @property
    def sponsored(self) -> "Rates":
        """The rates of a user for whom someone else pays the gas."""
        return replace(self, gas_price=0, data_fee=DataFee(0, 0))

    def with_more(self, token_count: int) -> "Rates":
        """Return the rates of a sweep with so many more tokens, or fewer if that is negative."""
        return replace(self, data_fee=None if self.data_fee is None else self.data_fee.with_more(token_count))

    def cost(self, *, gas: int, data_fee: int) -> int | None:
        """Return what this much gas and a fee in wei cost in the output, rounded up."""
        price = self.prices.along((self.wrapped, self.output))
        return None if price is None or self.gas_price is None else ceil((gas * self.gas_price + data_fee) * price)

    def share(self, *, gas: int, more_bytes: int) -> int | None:
        """Return what a token costs in the output that adds this much gas and, beside its leg, so many bytes."""
        if self.data_fee is None:
            return None
        return self.cost(gas=gas, data_fee=self.data_fee.of_token(gas, more_bytes=more_bytes))

    def in_coin(self, amount: int) -> int | None:
        """Return an amount of the output in wei, rounded down."""
        price = self.prices.along((self.output, self.wrapped))
        return None if price is None else floor(amount * price)

    def value(self, amount: int | None) -> int | None:
        """Return the value of an amount of the output in the reference stablecoin, rounded down."""
        price = self._reference_price
        return None if amount is None or price is None else floor(amount * price)

    @cached_property
    def _reference_price(self) -> Fraction | None:
        """The price of the output in the reference stablecoin."""
        if self.reference is None:
            return None
        path = (self.output, self.wrapped, self.reference.asset)
        return Fraction(1) if self.output == self.reference.asset else self.prices.along(path)


@dataclass(frozen=True)
class TokenEconomics:
    """What one token brings; amounts in the output, values in the reference stablecoin."""

    ideal_output: Fraction | None  # what the whole amount is worth at mid prices
    arriving_output: Fraction | None = None  # of it after the transfer tax
    price_impact_bps: int | None = None
    transfer_tax_bps: int | None = None
    gas: int = 0  # that it adds to the sweep
    more_bytes: int = 0  # of its approval or permit, for which a rollup charges
    gas_share: int | None = None
    net_output: int | None = None  # after the fee and the gas that it adds; negative if they take more than there is
    value: int | None = None  # of the expected output
    min_value: int | None = None  # of the minimum output
    gas_value: int | None = None
    net_value: int | None = None

    def at(self, *, expected_output: int, min_output: int, fees: FeeRates, rates: Rates) -> "TokenEconomics":
        """Return the figures for other outputs of the same amount."""
        share = rates.share(gas=self.gas, more_bytes=self.more_bytes)
        net = None if share is None else fees.floor_of(expected_output) - share
        return replace(
            self,
            price_impact_bps=loss_of(self.arriving_output, expected_output),
            gas_share=share,
            net_output=net,
            value=rates.value(expected_output),
            min_value=rates.value(min_output),
            gas_value=rates.value(share),
            net_value=rates.value(net),
        )


# Of a dropped token.
NOTHING = TokenEconomics(
    Fraction(0), Fraction(0), gas_share=0, net_output=0, value=0, min_value=0, gas_value=0, net_value=0
)


@dataclass(frozen=True)
class Economics:
    """What a sweep brings; amounts and values as of a token."""

    ideal_output: Fraction | None
    execution: str  # the kind of the way that it is about
    reference: Reference | None
    price_impact_bps: int | None
    transfer_tax_bps: int | None
    value: int | None  # of the expected output before the fee
    min_value: int | None  # of the minimum output before the fee
    gas: int
    gas_price: int | None  # wei
    data_fee: int | None  # wei
    cost: int | None  # wei, of everything that the user sends
    gas_share: int | None  # the same in the output
    gas_value: int | None
    net_output: int | None
    net_value: int | None
    summary: str | None  # for people
