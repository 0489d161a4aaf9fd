"""The arithmetic of the fee: integers, floor division, nothing lost.

The formulas are those of the partner API's fee math, which the contracts compute in the same way: the total fee is
floor(gross output * total fee bps / 10000), the partner's part floor(total fee * share bps / 10000), and the protocol
and the user get the rest.
"""

from dataclasses import dataclass

BPS_DENOMINATOR = 10_000  # of fees, shares and slippage


@dataclass(frozen=True)
class Split:
    """A gross output divided between user, partner and protocol, in the output token's smallest unit."""

    gross_output: int
    total_fee: int
    partner_fee: int
    protocol_fee: int
    user_amount: int

    def __add__(self, other: "Split") -> "Split":
        return Split(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))


NOTHING = Split(0, 0, 0, 0, 0)


def floor_share(amount: int, share_bps: int) -> int:
    """Return floor(amount * share / 10000)."""
    return amount * share_bps // BPS_DENOMINATOR


@dataclass(frozen=True)
class FeeRates:
    """The fee as a part of the gross output, and the partner's part of the fee."""

    total_fee_bps: int
    partner_share_bps: int

    def split(self, gross_output: int) -> Split:
        """Return how the contract divides a gross output."""
        return self.split_paid(gross_output, floor_share(gross_output, self.total_fee_bps))

    def split_paid(self, gross_output: int, total_fee: int) -> Split:
        """Return how a gross output was divided, of which this fee was taken."""
        partner_fee = floor_share(total_fee, self.partner_share_bps)
        return Split(gross_output, total_fee, partner_fee, total_fee - partner_fee, gross_output - total_fee)

    def floor_of(self, min_output: int) -> int:
        """Return the floor of a minimum before the fee."""
        return floor_share(min_output, BPS_DENOMINATOR - self.total_fee_bps)

    def min_output_of(self, floor: int) -> int:
        """Return the least output before the fee that the contract accepts for a floor."""
        return -(-floor * BPS_DENOMINATOR // (BPS_DENOMINATOR - self.total_fee_bps))

    def gross_for(self, net_output: int) -> int:
        """Return an output before the fee, of which exactly this is left after it: ``split`` gives it to the user."""
        return net_output * BPS_DENOMINATOR // (BPS_DENOMINATOR - self.total_fee_bps)

    def matches(self, gross_output: int, total_fee: int, *, swaps: int) -> bool:
        """Whether a fee is that of a gross output, to a unit for each swap, because each takes and rounds its own."""
        return abs(total_fee * BPS_DENOMINATOR - gross_output * self.total_fee_bps) <= swaps * BPS_DENOMINATOR
