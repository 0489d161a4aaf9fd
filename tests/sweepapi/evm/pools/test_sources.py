"""Another source of quotes needs a module and its line in ``SOURCES``, and competes like any other."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lab.route_quality.markets import CHAIN
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools import finder, uniswap_v2
from sweepapi.evm.pools.pricing import GasCosts, MidPrices
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.pools.venues import pool_address
from sweepapi.evm.routes.candidates import candidates

TOKEN, OUTPUT = "0x" + "11" * 20, "0x" + "22" * 20
AMOUNT = 1_000
RATE = Function("rate()", "(uint256)")
RESERVES = (10**9, 10**9, 0)  # of a pair that gives less than AMOUNT for it


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Chain:
    """A chain with pairs, and with pools of another source, which give what their contract says."""
    quotes = {
        "pool_quote_read": lambda hop, _: Read(hop.pool, RATE),
        "pool_output": lambda _, amount, values: amount * values[0],
    }
    monkeypatch.setitem(SOURCES, "fixed_rate", SimpleNamespace(**(vars(uniswap_v2) | quotes)))
    (pairs,) = (venue for venue in CHAIN.venues if venue.kind == "uniswap_v2")
    fixed = replace(pairs, id=9, name="fixed", kind="fixed_rate", factory="0x" + "33" * 20, deployer="0x" + "33" * 20)
    return replace(CHAIN, venues=(pairs, fixed))


@pytest.mark.parametrize(("rate", "winner"), [(2, "fixed_rate"), (0, "uniswap_v2")])
def test_the_source_with_the_best_quote_wins(chain: Chain, rate: int, winner: str) -> None:
    keys = finder.pool_keys(chain.venues, [(TOKEN, OUTPUT)])
    pools = {key: pool_address(venue, TOKEN, OUTPUT, 0) for key, venue in zip(keys, chain.venues, strict=True)}
    found = candidates(chain, TOKEN, OUTPUT, pools)
    reads = [finder.quote_read(swap, AMOUNT).function for swap in found.all]
    assert reads == [uniswap_v2.GET_RESERVES, RATE]
    costs = GasCosts(0, MidPrices({}), chain.wrapped_native)
    ways = found.quotes(AMOUNT, [RESERVES, (rate,)]).ways(chain, costs)
    assert ways.direct is not None
    assert ways.direct.quote is not None
    swap = ways.direct.quote.swap
    assert isinstance(swap, PoolHop)
    assert swap.venue.kind == winner
