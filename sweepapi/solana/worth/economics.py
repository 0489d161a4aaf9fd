"""What a sweep on Solana is worth: its fees, the rent that it pays and gives back, and what is left for the user."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor

from sweepapi.fees import BPS_DENOMINATOR, FeeRates, Split
from sweepapi.solana.cluster.clusters import OutputToken
from sweepapi.solana.worth.coin_prices import CoinPrices
from sweepapi.worth.losses import loss_of
from sweepapi.worth.summary import Reference, SummaryValues, summary

PAID_FOR = "fees and rent"


@dataclass(frozen=True)
class CoinRates:
    """What a sweep is valued at; a price is None if it is not known."""

    output_per_lamport: Fraction | None
    reference: Reference
    reference_per_output: Fraction | None

    @classmethod
    def of(cls, prices: CoinPrices, output_mint: str, reference: OutputToken) -> "CoinRates":
        """Return the rates of a sweep into an output, valued in the reference stablecoin."""
        in_output, in_reference = prices.of(output_mint), prices.of(reference.mint)
        per_output = None if in_output is None or in_reference is None else in_reference / in_output
        return cls(
            output_per_lamport=in_output,
            reference=Reference(reference.mint, reference.symbol, reference.decimals),
            reference_per_output=Fraction(1) if output_mint == reference.mint else per_output,
        )

    def in_output(self, lamports: int) -> int | None:
        """Return what lamports are in the output, rounded up."""
        return None if self.output_per_lamport is None else ceil(lamports * self.output_per_lamport)

    def in_lamports(self, amount: int) -> int | None:
        """Return an amount of the output in lamports, rounded down."""
        return None if self.output_per_lamport is None else floor(amount / self.output_per_lamport)

    def value(self, amount: int | None) -> int | None:
        """Return the value of an amount of the output in the reference stablecoin, rounded down."""
        if amount is None or self.reference_per_output is None:
            return None
        return floor(amount * self.reference_per_output)


@dataclass(frozen=True)
class LegEconomics:
    """What one token brings; amounts in the output, values in the reference stablecoin."""

    ideal_output: Fraction | None  # what it would bring without the price impact
    price_impact_bps: int | None
    value: int | None  # of the expected output
    min_value: int | None
    gas_share: int | None = None  # what it adds to the cost; negative if the rent that comes back is more
    gas_value: int | None = None
    net_output: int | None = None  # after the platform fee and ``gas_share``
    net_value: int | None = None
    gas: None = None  # there is none on Solana


@dataclass(frozen=True)
class QuotedLeg:
    """What a token is quoted at, before the fee."""

    expected: int
    minimum: int
    impact_bps: int | None


def leg_economics(leg: QuotedLeg, rates: CoinRates, fees: FeeRates, *, lamports: int | None) -> LegEconomics:
    """Return what a token brings; ``lamports`` is what it adds to the cost.

    Without ``lamports``, which are not known before the transactions are composed, what needs them is None.
    """
    share = None if lamports is None else rates.in_output(lamports)
    net = None if share is None else fees.floor_of(leg.expected) - share
    return LegEconomics(
        ideal_output=_ideal(leg.expected, leg.impact_bps),
        price_impact_bps=leg.impact_bps,
        value=rates.value(leg.expected),
        min_value=rates.value(leg.minimum),
        gas_share=share,
        gas_value=rates.value(share),
        net_output=net,
        net_value=rates.value(net),
    )


class CostKind(StrEnum):
    """What a sweep costs its user."""

    SIGNATURE_FEES = "signature_fees"
    PRIORITY_FEES = "priority_fees"
    RENT_PAID = "rent_paid"
    ROUTE_RENT = "route_rent"
    RENT_RETURNED = "rent_returned"
    PLATFORM_FEE = "platform_fee"


@dataclass(frozen=True)
class Cost:
    """One part of what a sweep costs, in three units; None where a price is not known."""

    kind: CostKind
    lamports: int | None  # negative if the wallet gets it
    output: int | None
    value: int | None


@dataclass(frozen=True)
class SweepLamports:
    """What all transactions of a sweep take from the wallet in lamports, and give back."""

    signature_fees: int
    priority_fees: int
    rent_paid: int  # for token accounts of the wallet
    route_rent: int  # for accounts at exchanges, which the wallet does not get back by closing its own
    rent_returned: int

    @property
    def total(self) -> int:
        """What the wallet pays; negative if more comes back."""
        return self.signature_fees + self.priority_fees + self.rent_paid + self.route_rent - self.rent_returned


@dataclass(frozen=True)
class SweepEconomics:
    """What a sweep brings; amounts and values as of a token."""

    ideal_output: Fraction | None
    reference: Reference
    price_impact_bps: int | None
    value: int | None  # of the expected output before the fee
    min_value: int | None
    costs: Sequence[Cost]
    cost: int  # lamports, without the platform fee, which the output already lacks
    gas_share: int | None  # the same in the output
    gas_value: int | None
    net_output: int | None
    net_value: int | None
    summary: str | None  # for people


def sweep_economics(
    legs: Sequence[LegEconomics], rates: CoinRates, paid: SweepLamports, *, expected: Split, minimum: Split
) -> SweepEconomics:
    """Return what a whole sweep of these tokens brings."""
    known = [leg.ideal_output for leg in legs if leg.ideal_output is not None]
    ideal = sum(known, Fraction(0)) if len(known) == len(legs) else None
    share = rates.in_output(paid.total)
    net = None if share is None else expected.user_amount - share
    return SweepEconomics(
        ideal_output=ideal,
        reference=rates.reference,
        price_impact_bps=loss_of(ideal, expected.gross_output),
        value=rates.value(expected.gross_output),
        min_value=rates.value(minimum.gross_output),
        costs=_costs(rates, paid, expected.total_fee),
        cost=paid.total,
        gas_share=share,
        gas_value=rates.value(share),
        net_output=net,
        net_value=rates.value(net),
        summary=summary(
            len(legs),
            rates.reference,
            SummaryValues(
                worth=None if ideal is None else rates.value(floor(ideal)),
                cost=rates.value(share),
                received=rates.value(expected.user_amount),
            ),
            paid_for=PAID_FOR,
        ),
    )


def _costs(rates: CoinRates, paid: SweepLamports, total_fee: int) -> list[Cost]:
    in_lamports = {
        CostKind.SIGNATURE_FEES: paid.signature_fees,
        CostKind.PRIORITY_FEES: paid.priority_fees,
        CostKind.RENT_PAID: paid.rent_paid,
        CostKind.ROUTE_RENT: paid.route_rent,
        CostKind.RENT_RETURNED: -paid.rent_returned,
    }
    costs = [
        Cost(kind, lamports, output := rates.in_output(lamports), rates.value(output))
        for kind, lamports in in_lamports.items()
    ]
    return [*costs, Cost(CostKind.PLATFORM_FEE, rates.in_lamports(total_fee), total_fee, rates.value(total_fee))]


def _ideal(expected: int, impact_bps: int | None) -> Fraction | None:
    if impact_bps is None or impact_bps >= BPS_DENOMINATOR:
        return None
    return Fraction(expected * BPS_DENOMINATOR, BPS_DENOMINATOR - impact_bps)
