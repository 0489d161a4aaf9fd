"""What must hold between the figures of discover's answer, beside what must for every sweep."""

from collections.abc import Iterator

from sweepapi.worth.left_out import costs_more
from sweeps.protocol.consistency import contradictions_of_economics, require_none
from sweeps.rails.evm.build.consistency import contradictions_of_sweep
from sweeps.rails.evm.discover.basket import GOOD
from sweeps.rails.evm.discover.found import BestBasket, EvmDiscovery, FoundToken


def require_consistent_discovery(discovery: EvmDiscovery) -> None:
    """Raise ``ContradictoryOfferError`` unless the figures of a wallet's tokens and basket hold together."""
    each = [contradiction for token in discovery.tokens for contradiction in _of_found(token)]
    require_none([*each, *_of_exclusions(discovery), *_of_basket(discovery.best_basket), *_of_prices(discovery)])


def _of_found(token: FoundToken) -> Iterator[str]:
    if token.sale is not None:
        yield from contradictions_of_sweep(token.sale)
    if token.finding.verdict not in GOOD:
        return
    if token.token is None:
        yield f"{token.asset} can be sold in no way"
    elif costs_more(token.token.economics):
        yield f"{token.asset} costs more than it brings and is worth sweeping"


def _of_exclusions(discovery: EvmDiscovery) -> Iterator[str]:
    """Yield each token that can be sold and neither is in the basket nor says why, or that does both."""
    contained = {token.asset for token in discovery.best_basket.tokens}
    for token in discovery.tokens:
        is_left_out = token.finding.verdict in GOOD and token.asset not in contained
        if is_left_out != (token.excluded_because is not None):
            yield f"{token.asset} is {'not ' if is_left_out else ''}excluded from the basket"
    unknown = contained - {token.asset for token in discovery.tokens if token.finding.verdict in GOOD}
    if unknown:
        yield f"the basket has tokens that can't be sold: {', '.join(sorted(unknown))}"


def _of_basket(basket: BestBasket) -> Iterator[str]:
    sweep, economics = basket.sweep, basket.economics
    if sweep is None or economics is None:
        if basket.tokens:
            yield "a basket without a sweep has tokens"
        return
    yield from contradictions_of_sweep(sweep)
    yield from contradictions_of_economics(sweep, economics, economics.execution)
    if sorted(token.asset for token in basket.tokens) != sorted(token.asset for token in sweep.tokens):
        yield "the basket and its sweep have other tokens"
    if economics.net_output is None or economics.net_output <= 0:
        yield f"the basket leaves {economics.net_output}"


def _of_prices(discovery: EvmDiscovery) -> Iterator[str]:
    """Yield the sales that are valued at other prices than the first one."""
    sweeps = [token.sale for token in discovery.tokens if token.sale is not None]
    if discovery.best_basket.sweep is not None:
        sweeps.append(discovery.best_basket.sweep)
    for sweep in sweeps:
        if (sweep.rates.prices, sweep.rates.gas_price) != (sweeps[0].rates.prices, sweeps[0].rates.gas_price):
            yield f"{sweep.tokens[0].asset} is valued at other prices"
