"""Asks the swap API what the tokens of a request sell for, and what SOL does, all at once."""

from collections.abc import Collection, Sequence

from sweepapi.fees import FeeRates
from sweepapi.networks import Networks
from sweepapi.solana.swap_api import NoQuote, QuoteAnswer, SwapApiError, SwapApiQuote
from sweepapi.solana.worth.economics import CoinRates, QuotedLeg, leg_economics
from sweepapi.worth.left_out import LeftOut
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.obstacles import NO_ROUTE
from sweeps.rails.solana_v1.build.refusals import Sellable
from sweeps.rails.solana_v1.build.stages import SolanaToken
from sweeps.rails.solana_v1.build.terms import SwapTerms


def ask(
    registry: Networks, sellable: Sequence[Sellable], terms: SwapTerms, *, priced_in: Collection[str]
) -> list[QuoteAnswer]:
    """Return the answer for each token, and have the registry know what SOL is worth in these mints.

    Raises ``SwapApiError`` if a token has no usable answer.
    """
    wanted = [terms.quote_request(one.token.asset, one.token.amount) for one in sellable]
    of_coin = registry.coin_prices.requests(priced_in, taker=terms.wallet)
    answers = registry.swap_api.quotes([*wanted, *of_coin])
    registry.coin_prices.learn(answers[len(wanted) :])
    quotes = answers[: len(wanted)]
    for answer in quotes:
        if isinstance(answer, SwapApiError):
            raise answer
    return quotes


def quoted_tokens(
    sellable: Sequence[Sellable], answers: Sequence[QuoteAnswer], facts: ClusterFacts, rates: CoinRates, fees: FeeRates
) -> list[SolanaToken]:
    """Return each token that has a quote, with its expected and minimum output before the fee."""
    return [
        _token(one, answer, facts, rates, fees)
        for one, answer in zip(sellable, answers, strict=True)
        if isinstance(answer, SwapApiQuote)
    ]


def unroutable(sellable: Sequence[Sellable], answers: Sequence[QuoteAnswer]) -> list[LeftOut]:
    """Return the tokens that the swap API can't swap."""
    return [
        LeftOut(one.token.asset, one.token.amount, NO_ROUTE.code, NO_ROUTE.message)
        for one, answer in zip(sellable, answers, strict=True)
        if isinstance(answer, NoQuote)
    ]


def _token(one: Sellable, quote: SwapApiQuote, facts: ClusterFacts, rates: CoinRates, fees: FeeRates) -> SolanaToken:
    expected, minimum = fees.gross_for(quote.out_amount), fees.gross_for(quote.threshold)
    return SolanaToken(
        asset=one.token.asset,
        amount=one.token.amount,
        symbol=facts.names[one.holding.token.mint].symbol,
        decimals=one.mint.decimals,
        expected_output=expected,
        min_output=minimum,
        holding=one.holding,
        quote=quote,
        economics=leg_economics(QuotedLeg(expected, minimum, quote.price_impact_bps), rates, fees, lamports=None),
    )
