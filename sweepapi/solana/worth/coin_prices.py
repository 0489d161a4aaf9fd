"""What SOL is worth in other tokens, as the swap API quotes it beside the tokens of a wallet, remembered for a while.

No price decides what a user signs: it only converts fees and rents into the output.
"""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweepapi.solana.swap_api import QuoteAnswer, QuoteRequest, SwapApiQuote

QUOTED_LAMPORTS = 100_000_000  # enough for an exact price, and too little to move one
FRESH_SECONDS = 30.0
STALE_SECONDS = 600.0  # up to this age, a price is better than none
SLIPPAGE_BPS = 100  # nothing of these quotes is signed


@dataclass(frozen=True)
class CoinPrices:
    """The last quotes of SOL; thread-safe, one per process. Prices are in units of the token for a lamport."""

    _known: dict[str, tuple[float, Fraction]] = field(default_factory=dict)  # by mint, with the monotonic time

    def requests(self, mints: Collection[str], *, taker: str) -> list[QuoteRequest]:
        """Return what to ask the swap API to know the price of SOL in these tokens."""
        return [
            QuoteRequest(
                input_mint=str(WRAPPED_SOL),
                output_mint=mint,
                amount=QUOTED_LAMPORTS,
                taker=taker,
                slippage_bps=SLIPPAGE_BPS,
                platform_fee_bps=0,
            )
            for mint in dict.fromkeys(mints)
            if mint != str(WRAPPED_SOL) and self._age_seconds(mint) > FRESH_SECONDS
        ]

    def learn(self, answers: Iterable[QuoteAnswer]) -> None:
        """Remember the answers to such requests; one without a quote changes nothing."""
        for answer in answers:
            if isinstance(answer, SwapApiQuote):
                self._known[answer.output_mint] = time.monotonic(), Fraction(answer.out_amount, answer.in_amount)

    def of(self, mint: str) -> Fraction | None:
        """Return the price of a lamport; None if it is not known, or zero."""
        if mint == str(WRAPPED_SOL):
            return Fraction(1)
        return self._known[mint][1] or None if self._age_seconds(mint) < STALE_SECONDS else None

    def _age_seconds(self, mint: str) -> float:
        return time.monotonic() - self._known[mint][0] if mint in self._known else float("inf")
