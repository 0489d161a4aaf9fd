"""Asks the swap API what the tokens of a request sell for, and what SOL does, all at once."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from sweepapi.fees import FeeRates
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import OutputToken
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweepapi.solana.swap_api import NoQuote, QuoteAnswer, RateLimitedError, SwapApiError, SwapApiQuote
from sweepapi.solana.swap_api.client import refuse_without_answer
from sweepapi.solana.worth.coin_prices import QUOTED_LAMPORTS
from sweepapi.solana.worth.economics import CoinRates, QuotedLeg, leg_economics
from sweepapi.worth.left_out import LeftOut
from sweeps.rails.solana_v1.build.burning import Burn
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.refusals import Sellable
from sweeps.rails.solana_v1.build.stages import SolanaToken
from sweeps.rails.solana_v1.build.terms import SwapTerms
from sweeps.rails.solana_v1.obstacles import NO_ROUTE, NOT_QUOTED, UNUSABLE_QUOTE, Obstacle

log = structlog.get_logger(__name__)

LATER = "The swap API quotes no more tokens for now; build it in {} seconds."


def ask(
    registry: Networks, sellable: Sequence[Sellable], terms: SwapTerms, reference: OutputToken
) -> list[QuoteAnswer]:
    """Return the answer for each token, and have the registry know what SOL is worth.

    Raises ``SwapApiError`` if no token has a usable answer, or if the swap API refuses what all of them have in common.
    """
    wanted = [terms.quote_request(one.token.asset, one.token.amount) for one in sellable]
    of_coin = registry.coin_prices.requests((terms.output_mint, reference.mint), taker=terms.wallet)
    answers = registry.swap_api.quotes([*wanted, *of_coin])
    registry.coin_prices.learn(answers[len(wanted) :])
    quotes = answers[: len(wanted)]
    refuse_without_answer(quotes)
    if all(isinstance(answer, NoQuote) for answer in quotes):
        refuse_if_ours(registry, terms, reference)
    return quotes


def learn_coin_prices(registry: Networks, terms: SwapTerms, reference: OutputToken) -> None:
    """Have the registry know what SOL is worth, if the swap API says so."""
    of_coin = registry.coin_prices.requests((terms.output_mint, reference.mint), taker=terms.wallet)
    try:
        registry.coin_prices.learn(registry.swap_api.quotes(of_coin))
    except SwapApiError as error:
        log.warning("coin_not_quoted", error=str(error))


def valued(
    registry: Networks, burns: Sequence[Burn], terms: SwapTerms, reference: OutputToken, fees: FeeRates
) -> list[Burn]:
    """Return the burns with what their tokens would sell for.

    Raises ``SwapApiError`` if that is not known of one.
    """
    of_coin = registry.coin_prices.requests((terms.output_mint, reference.mint), taker=terms.wallet)
    wanted = [terms.quote_request(burn.wanted.asset, burn.wanted.amount) for burn in burns]
    answers = registry.swap_api.quotes([*wanted, *of_coin])
    registry.coin_prices.learn(answers[len(wanted) :])
    rates = CoinRates.of(registry.coin_prices, terms.output_mint, reference)
    return [
        replace(burn, value=_value_of(answer, fees, rates))
        for burn, answer in zip(burns, answers[: len(wanted)], strict=True)
    ]


def _value_of(answer: QuoteAnswer, fees: FeeRates, rates: CoinRates) -> int | None:
    if isinstance(answer, SwapApiError):
        raise answer
    if isinstance(answer, NoQuote):
        return None
    value = rates.value(fees.gross_for(answer.out_amount))
    if value is None:
        raise SwapApiError("the value of what is to be burnt is not known", is_temporary=True)
    return value


def refuse_if_ours(registry: Networks, terms: SwapTerms, reference: OutputToken, *, for_build: bool = True) -> None:
    """Raise ``SwapApiError`` if the swap API does not even quote SOL on these terms: then no token is to blame."""
    sold, amount = str(WRAPPED_SOL), QUOTED_LAMPORTS
    if terms.output_mint == sold:
        sold, amount = reference.mint, 10**reference.decimals
    (answer,) = registry.swap_api.quotes([terms.quote_request(sold, amount)], for_build=for_build)
    if isinstance(answer, NoQuote):
        log.error("swap_api_refuses_our_terms", output_mint=terms.output_mint, reason=answer.reason)
        raise SwapApiError(f"the swap API refuses every sale: {answer.reason}")


def quoted_tokens(
    sellable: Sequence[Sellable], answers: Sequence[QuoteAnswer], facts: ClusterFacts, rates: CoinRates, fees: FeeRates
) -> list[SolanaToken]:
    """Return each token that has a quote, with its expected and minimum output before the fee."""
    return [
        _token(one, answer, facts, rates, fees)
        for one, answer in zip(sellable, answers, strict=True)
        if isinstance(answer, SwapApiQuote)
    ]


def without_quote(sellable: Sequence[Sellable], answers: Sequence[QuoteAnswer]) -> list[LeftOut]:
    """Return the tokens that the swap API can't swap, or has no usable answer for."""
    found = [
        (one.token, _obstacle(answer))
        for one, answer in zip(sellable, answers, strict=True)
        if not isinstance(answer, SwapApiQuote)
    ]
    errors = sorted({str(answer) for answer in answers if isinstance(answer, SwapApiError)})
    if errors:
        log.warning("tokens_not_quoted", errors=errors, tokens=len(found))
    return [LeftOut(token.asset, token.amount, obstacle.code, obstacle.message) for token, obstacle in found]


def _obstacle(answer: NoQuote | SwapApiError) -> Obstacle:
    if isinstance(answer, NoQuote):
        return NO_ROUTE
    if isinstance(answer, RateLimitedError):
        return Obstacle(NOT_QUOTED.code, LATER.format(answer.retry_after_seconds))
    return NOT_QUOTED if answer.is_temporary else UNUSABLE_QUOTE


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
        transfer_tax_bps=one.mint.transfer_tax_bps(facts.epoch),
        economics=leg_economics(QuotedLeg(expected, minimum, quote.price_impact_bps), rates, fees, lamports=None),
    )
