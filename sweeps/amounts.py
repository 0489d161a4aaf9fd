"""The arithmetic of the fee: integers, floor division, nothing lost.

The formulas are those of the partner API's fee math, which the contract computes in the same way: the total fee is
floor(gross times total fee bps / 10000), the partner's part floor(total times share bps / 10000), and the rest follows.
"""

from dataclasses import dataclass

from sweepapi.evm.v5 import BPS_DENOMINATOR


@dataclass(frozen=True)
class Split:
    """A gross output divided between user, partner and protocol, in the output token's smallest unit."""

    gross_output: int
    total_fee: int
    partner_fee: int
    protocol_fee: int
    user_amount: int


def floor_share(amount: int, share_bps: int) -> int:
    """Return floor(amount times share / 10000)."""
    return amount * share_bps // BPS_DENOMINATOR


def split(gross_output: int, total_fee_bps: int, partner_share_bps: int) -> Split:
    """Return how the contract divides a gross output."""
    total_fee = floor_share(gross_output, total_fee_bps)
    partner_fee = floor_share(total_fee, partner_share_bps)
    return Split(gross_output, total_fee, partner_fee, total_fee - partner_fee, gross_output - total_fee)
