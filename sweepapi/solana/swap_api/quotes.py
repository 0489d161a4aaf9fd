"""What is asked of a swap API for one token, and what it answers."""

import math
from dataclasses import dataclass

from solders.instruction import Instruction

from sweepapi.solana.encoding.errors import SolanaError
from sweepapi.solana.packing.compute_budget import USUAL_PERCENTILE


class SwapApiError(SolanaError):
    """The swap API did not answer in time, refused to, or answered what its document does not allow.

    ``retry_after_seconds`` is None unless the swap API said when to try again; ``is_temporary`` says whether the same
    request may be answered soon.
    """

    def __init__(self, message: str, *, retry_after_seconds: int | None = None, is_temporary: bool = False) -> None:
        self.retry_after_seconds = retry_after_seconds
        self.is_temporary = is_temporary
        super().__init__(message)


class RateLimitedError(SwapApiError):
    """The swap API takes no more requests for this long, so it was not asked, or refused to answer."""

    def __init__(self, seconds: float) -> None:
        message = "the swap API takes no more requests for now"
        super().__init__(message, retry_after_seconds=max(1, math.ceil(seconds)), is_temporary=True)


@dataclass(frozen=True, kw_only=True)
class QuoteRequest:
    """A swap of an exact amount of one token; keys are base58, amounts are in the token's smallest unit."""

    input_mint: str
    output_mint: str
    amount: int
    taker: str  # the wallet that signs and pays
    slippage_bps: int
    platform_fee_bps: int  # of the output
    fee_account: str = ""  # the token account of the output mint that is paid the platform fee, if there is one
    max_accounts: int = 64  # that the route may use
    price_percentile: str = USUAL_PERCENTILE  # of the prices of compute units, of which it is to say one


@dataclass(frozen=True, kw_only=True)
class SwapApiQuote:
    """A swap that the swap API offers. Its form was checked, and that it is of the tokens and the amount requested.

    What the instructions do was not: see ``inspection`` and ``effects``.
    """

    input_mint: str
    output_mint: str
    in_amount: int
    out_amount: int  # expected by the taker, after the platform fee
    threshold: int  # the swap fails if the taker would receive less
    price_impact_bps: int | None  # None if the swap API does not say
    labels: tuple[str, ...]  # of the exchanges on the route
    setup: tuple[Instruction, ...]  # run before ``swap``
    swap: Instruction
    other: tuple[Instruction, ...]  # run after ``swap``
    cleanup: Instruction | None  # runs last
    lookup_tables: tuple[str, ...]
    unit_price: int | None = None  # micro-lamports per compute unit; None if the swap API says none


@dataclass(frozen=True)
class NoQuote:
    """The swap API has no swap for this token and amount; ``reason`` is its own text, cleaned."""

    reason: str


QuoteAnswer = SwapApiQuote | NoQuote | SwapApiError
