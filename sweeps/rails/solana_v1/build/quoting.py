"""Asks the swap API what the tokens of a request sell for, all at once, and refuses those that sell for nothing."""

from collections.abc import Sequence

from sweepapi.errors import FieldError, InsufficientOutput, NoRoute
from sweepapi.fees import FeeRates
from sweepapi.solana.swap_api import NoQuote, SwapApi, SwapApiQuote
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.obstacles import NO_ROUTE
from sweeps.rails.solana_v1.build.refusals import Sellable
from sweeps.rails.solana_v1.build.stages import SolanaToken
from sweeps.rails.solana_v1.build.terms import SwapTerms


def quote_tokens(
    swap_api: SwapApi, sellable: Sequence[Sellable], facts: ClusterFacts, terms: SwapTerms, fees: FeeRates
) -> list[SolanaToken]:
    """Return each token with its expected and minimum output, before the fee.

    Raises ``SwapApiError``, ``NoRoute``, and ``InsufficientOutput`` if a minimum is zero.
    """
    wanted = [terms.quote_request(one.token.asset, one.token.amount) for one in sellable]
    quotes = _all_quoted(swap_api.quotes(wanted))
    return [
        SolanaToken(
            asset=one.token.asset,
            amount=one.token.amount,
            symbol=facts.names[one.holding.token.mint].symbol,
            decimals=one.mint.decimals,
            expected_output=fees.gross_for(quote.out_amount),
            min_output=fees.gross_for(quote.threshold),
            holding=one.holding,
            quote=quote,
        )
        for one, quote in zip(sellable, quotes, strict=True)
    ]


def _all_quoted(answers: Sequence[SwapApiQuote | NoQuote]) -> list[SwapApiQuote]:
    unroutable = [
        FieldError(f"tokens[{i}].mint", NO_ROUTE.code, NO_ROUTE.message)
        for i, answer in enumerate(answers)
        if isinstance(answer, NoQuote)
    ]
    if unroutable:
        raise NoRoute(details=unroutable)
    quotes = [answer for answer in answers if isinstance(answer, SwapApiQuote)]
    nothing = [
        FieldError(f"tokens[{i}].amount", "output_too_small", "The minimum output of this amount rounds to zero.")
        for i, quote in enumerate(quotes)
        if quote.threshold == 0
    ]
    if nothing:
        raise InsufficientOutput(details=nothing)
    return quotes
