"""The tokens of a wallet that are worth sweeping together."""

from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from sweepapi.evm.trial.trial_result import NOT_TRIED
from sweeps.rails.evm.build.stages import EvmSimulated
from sweeps.rails.evm.discover.found import BestBasket, FoundToken, TokenVerdict

EMPTY = BestBasket((), 0, None)


def best_basket(found: Sequence[FoundToken]) -> BestBasket:
    """Return the basket that brings the most after fee and gas; it is empty if every other one would cost more.

    The last hop costs gas of its own; tokens that need it may not pay for it, even if each pays for its own swap.
    """
    worthy = sorted(filter(_is_worthy, found), key=_net_output, reverse=True)
    direct = [token for token in worthy if token.sale is not None and token.sale.last_hop is None]
    baskets = [_basket(tokens[: settings.MAX_TOKENS]) for tokens in (worthy, direct) if tokens]
    return max(filter(_net_of, baskets), key=_net_of, default=EMPTY)


def _is_worthy(found: FoundToken) -> bool:
    """Return whether a token brings more than it costs, at a price impact that builds accept."""
    if found.token is None or found.finding.verdict not in (TokenVerdict.SELLABLE, TokenVerdict.TAXED):
        return False
    impact = found.token.economics.price_impact_bps or 0
    return _net_output(found) > 0 and impact <= settings.PRICE_IMPACT_REFUSAL_BPS


def _net_output(found: FoundToken) -> int:
    """Return the net output; zero if it is not known."""
    return 0 if found.token is None else found.token.economics.net_output or 0


def _basket(tokens: Sequence[FoundToken]) -> BestBasket:
    together = _together([token.sale for token in tokens if token.sale is not None])
    return BestBasket(tokens, together.expected.gross_output, together.economics)


def _net_of(basket: BestBasket) -> int:
    """Return what a basket brings; zero if that is not known, or if it costs more."""
    return 0 if basket.economics is None else max(basket.economics.net_output or 0, 0)


def _together(sales: Sequence[EvmSimulated]) -> EvmSimulated:
    """Return one sweep of what is sold alone."""
    return replace(
        sales[0],
        tokens=[token for sale in sales for token in sale.tokens],
        last_hop=next((sale.last_hop for sale in sales if sale.last_hop is not None), None),
        rates=sales[0].rates.with_more(len(sales) - 1),
        simulation=NOT_TRIED,
    )
