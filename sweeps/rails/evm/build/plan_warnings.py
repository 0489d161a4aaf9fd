"""Warns of what a plan shows already: symbols that differ, swaps by routers, and accounts that sign nothing."""

from collections.abc import Iterator

from sweepapi.evm.market.reading import MarketFacts
from sweepapi.evm.pools.types import Route
from sweepapi.evm.routes.planning import RoutePlan
from sweeps.protocol.rail import BuildWarning, symbol_warnings
from sweeps.protocol.request import BuildRequest
from sweeps.rails.evm.build.stages import WalletFacts

ROUTER_SWAP = "A router swaps this token after the pools have swapped the others, which may push it to its minimum."
SIGNS_NOTHING = (
    "The code of this account does not check signatures (EIP-1271), so Permit2 accepts none of them: the sweep can "
    "only be executed in a batch of calls."
)


def plan_warnings(
    request: BuildRequest, facts: MarketFacts, plan: RoutePlan, wallet: WalletFacts
) -> Iterator[BuildWarning]:
    """Yield the warnings about the tokens, and then that about the wallet."""
    known = [token for token in request.tokens if token.asset in facts.tokens]
    yield from symbol_warnings(known, {asset: token.symbol for asset, token in facts.tokens.items()})
    for asset, way in plan.ways.items():
        if way.quote is not None and isinstance(way.quote.swap, Route) and len(plan.ways) > 1:
            yield BuildWarning("router_swap", ROUTER_SWAP, asset)
    if wallet.answers_eip1271 is False:
        yield BuildWarning("no_signatures", SIGNS_NOTHING, None)
