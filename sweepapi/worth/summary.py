"""What a sweep means for its user, in a sentence with values in the reference stablecoin."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """The stablecoin in which values are stated."""

    asset: str
    symbol: str
    decimals: int

    def micros(self, value: int) -> int:
        """Return a value in millionths of the stablecoin, rounded down."""
        return int(value * 10**6 // 10**self.decimals)

    def dollars(self, value: int) -> str:
        """Return a value as people write it."""
        cents = value * 100 // 10**self.decimals
        return "less than $0.01" if 0 == cents < value else f"${cents // 100:,}.{cents % 100:02}"


@dataclass(frozen=True)
class SummaryValues:
    """The values of a sweep in the smallest unit of the reference stablecoin; None if one is not known."""

    worth: int | None  # of the tokens at mid prices
    cost: int | None  # negative where more comes back than is paid
    received: int | None


def summary(count: int, reference: Reference | None, values: SummaryValues, *, paid_for: str) -> str | None:
    """Return what the sweep of so many tokens means for its user; None if one of the values is not known.

    ``paid_for`` names what the cost is for.
    """
    if reference is None or values.worth is None or values.cost is None or values.received is None:
        return None
    net, dollars = values.received - values.cost, reference.dollars
    if count == 0:
        return f"You get {dollars(net)} back." if net > 0 else f"You pay {dollars(-net)} for {paid_for}."
    sold = f"You sell {count} token{'s' if count > 1 else ''} worth {dollars(values.worth)}"
    if values.cost == 0:
        return f"{sold} and receive {dollars(values.received)}."
    if values.cost < 0:
        back = dollars(-values.cost)
        return f"{sold}, receive {dollars(values.received)} and get {back} back, which leaves you {dollars(net)}."
    left = f"leaves you {dollars(net)}" if net >= 0 else f"is {dollars(-net)} less than the {paid_for}"
    return f"{sold}, pay {dollars(values.cost)} for {paid_for} and receive {dollars(values.received)}, which {left}."
