"""The tokens of a wallet that are worth sweeping together, and the way to execute that sweep.

What a token costs depends on the way: its approval, for Permit2 or for the contract, or its permit. So each way that
the wallet certainly has is tried with the tokens that bring more than they add to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from django.conf import settings

from sweepapi.evm.trial.legs import leg_gas
from sweepapi.evm.trial.sweep_gas import USED_FIXED
from sweepapi.evm.trial.trial_result import together
from sweepapi.evm.worth.ways import ExecutionWay, WayKind
from sweepapi.fees import BPS_DENOMINATOR
from sweeps.protocol.refusing import most_impact_bps
from sweeps.protocol.verdicts import Exclusion, TokenVerdict
from sweeps.rails.evm.build.stages import EvmSimulated
from sweeps.rails.evm.discover.found import BestBasket, FoundToken
from sweeps.rails.evm.discover.verdicts import of_sale

GOOD = (TokenVerdict.SELLABLE, TokenVerdict.TAXED)

EMPTY = BestBasket()
# Of output and cost together, which a promise may be off by, mostly because signatures compress differently on Nitro:
# measured 0.23 percent of baskets. A basket that leaves less could lose money. One percent would leave out gains.
LEAST_NET_BPS = 50


@dataclass(frozen=True)
class ChosenBasket:
    """All tokens that were found, valued for the way of the basket, and the basket."""

    found: Sequence[FoundToken]
    basket: BestBasket = EMPTY

    @property
    def net_output(self) -> int:
        """What it leaves; zero if that is not known, or if it costs more."""
        economics = self.basket.economics
        return 0 if economics is None else max(economics.net_output or 0, 0)

    @property
    def pays(self) -> bool:
        """Whether it leaves more than the figures may be off by."""
        economics = self.basket.economics
        if economics is None or economics.gas_share is None:
            return False
        compared = self.basket.expected_output + economics.gas_share
        return self.net_output * BPS_DENOMINATOR > LEAST_NET_BPS * compared


def best_basket(found: Sequence[FoundToken], tried: EvmSimulated | None = None) -> ChosenBasket:
    """Return the basket that brings the most after fee and gas; it is empty if none surely brings more than it costs.

    ``tried`` is a sweep of some of the tokens that went through: the basket of just these is that sweep, and what the
    tokens of other baskets share is what its tokens shared.
    """
    comparison = _Comparison(found, tried)
    best = max(comparison.baskets, key=lambda basket: basket.net_output, default=None)
    if best is None or not best.pays:
        best = ChosenBasket([comparison.costing(token, None) for token in found])
    return replace(best, found=[_excluded(token, best.basket) for token in best.found])


class _Comparison:
    """Compares the ways to execute sweeps of what was found."""

    def __init__(self, found: Sequence[FoundToken], tried: EvmSimulated | None) -> None:
        self._found = found
        self._tried = tried
        self._ways = {token.asset: _certain_ways(token.sale) for token in found if token.sale is not None}
        self._shared_gas = _shared_gas({token.asset: token.sale for token in found if token.sale is not None}, tried)

    @property
    def baskets(self) -> Iterator[ChosenBasket]:
        """The baskets of all tokens that are worth it in one way, and of those that need no last hop.

        The last hop costs gas of its own; tokens that need it may not pay for it, even if each pays for its own swap.
        """
        for kind in WayKind:
            found = [self.costing(token, kind) for token in self._found]
            able = [token for token in found if kind in self._ways.get(token.asset, ())]
            worthy = sorted(filter(_is_worthy, able), key=_net_output, reverse=True)
            direct = [token for token in worthy if token.sale is not None and token.sale.last_hop is None]
            for tokens in (worthy, direct):
                if tokens:
                    yield self._basket(found, tokens[: settings.MAX_TOKENS], kind)

    def costing(self, token: FoundToken, kind: WayKind | None) -> FoundToken:
        """Return the token with what it adds to a sweep in this way, or else in the cheapest one."""
        if token.sale is None:
            return token
        way = self._ways[token.asset].get(kind) if kind is not None else None
        sale = token.sale.costing(way or token.sale.ways[0], leg=self._leg_gas(token.sale))
        return replace(token, sale=sale, finding=of_sale(sale))

    def _basket(self, found: Sequence[FoundToken], tokens: Sequence[FoundToken], kind: WayKind) -> ChosenBasket:
        sweep = self._together([token.sale for token in tokens if token.sale is not None])
        way = _certain_ways(sweep)[kind]
        return ChosenBasket(found, BestBasket(tokens, sweep, sweep.economics_of(way)))

    def _together(self, sales: Sequence[EvmSimulated]) -> EvmSimulated:
        """Return one sweep of what is sold alone: as it was tried, or with the gas of the sales but what they share."""
        assets = {token.asset for sale in sales for token in sale.tokens}
        if self._tried is not None and assets == {token.asset for token in self._tried.tokens}:
            return self._tried
        last_hop = next((sale.last_hop for sale in sales if sale.last_hop is not None), None)
        tokens = [token for sale in sales for token in sale.tokens]
        rates = sales[0].rates.with_more(len(sales) - 1)
        whole = replace(sales[0], tokens=tokens, last_hop=last_hop, rates=rates)
        used = self._shared_gas + whole.gas.used_by_last_hop + sum(map(self._leg_gas, sales))
        return replace(whole, simulation=together([sale.simulation for sale in sales], used))

    def _leg_gas(self, sale: EvmSimulated) -> int:
        """Return the gas of the leg of a sale, measured if it was tried."""
        used = sale.simulation.gas_used
        if used is None:
            return leg_gas(sale.tokens[0].swap)
        return max(used - self._shared_gas - sale.gas.used_by_last_hop, 0)


def _shared_gas(sales: Mapping[str, EvmSimulated], tried: EvmSimulated | None) -> int:
    """Return what any sweep uses beside its legs: what the tried one saved, or what most sales used beside a leg."""
    used = {
        asset: sale.simulation.gas_used - sale.gas.used_by_last_hop
        for asset, sale in sales.items()
        if sale.simulation.gas_used is not None
    }
    if tried is not None and tried.simulation.gas_used is not None and len(tried.tokens) > 1:
        together = tried.simulation.gas_used - tried.gas.used_by_last_hop
        return max(sum(used[token.asset] for token in tried.tokens) - together, 0) // (len(tried.tokens) - 1)
    beside_legs = [gas - leg_gas(sales[asset].tokens[0].swap) for asset, gas in used.items()]
    return median_low(beside_legs) if beside_legs else USED_FIXED


def _certain_ways(sweep: EvmSimulated) -> Mapping[WayKind, ExecutionWay]:
    """Return the ways that the user has for certain; who lacks no permit has less to sign than with them."""
    ways = {way.kind: way for way in sweep.ways if way.counts}
    signed = ways.get(WayKind.PERMIT2)
    return {WayKind.PERMITS: signed, **ways} if signed is not None and not signed.approvals else ways


def _is_worthy(token: FoundToken) -> bool:
    """Return whether a token brings more than it adds, at a price impact that builds accept."""
    return token.finding.verdict in GOOD and _net_output(token) > 0 and not _is_far_below_price(token)


def _is_far_below_price(token: FoundToken) -> bool:
    impact_bps = 0 if token.token is None else token.token.economics.price_impact_bps or 0
    return impact_bps > most_impact_bps(None)


def _net_output(token: FoundToken) -> int:
    """Return the net output; zero if it is not known."""
    return 0 if token.token is None else token.token.economics.net_output or 0


def _excluded(token: FoundToken, basket: BestBasket) -> FoundToken:
    """Return the token with why it is not in the basket, if it can be sold and is not."""
    if token.finding.verdict not in GOOD or any(token.asset == one.asset for one in basket.tokens):
        return token
    return replace(token, excluded_because=_exclusion(token, basket))


def _exclusion(token: FoundToken, basket: BestBasket) -> Exclusion:
    if _is_far_below_price(token):
        return Exclusion.PRICE_IMPACT_TOO_HIGH
    if token.token is None or token.token.economics.net_output is None:
        return Exclusion.PRICE_UNKNOWN
    if not basket.tokens:
        return Exclusion.BASKET_UNECONOMIC
    if len(basket.tokens) == settings.MAX_TOKENS:
        return Exclusion.TOO_MANY_TOKENS
    if token.sale is not None and token.sale.last_hop is not None:
        return Exclusion.LAST_HOP_UNECONOMIC
    return Exclusion.OTHER_WAY
