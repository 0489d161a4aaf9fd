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


def split(gross_output: int, total_fee_bps: int, partner_share_bps: int) -> Split:
    """Return how the contract divides a gross output."""
    total_fee = floor_share(gross_output, total_fee_bps)
    partner_fee = floor_share(total_fee, partner_share_bps)
    return Split(gross_output, total_fee, partner_fee, total_fee - partner_fee, gross_output - total_fee)
