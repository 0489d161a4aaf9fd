"""A plan takes few round trips, whatever the number of tokens, and few calls in each."""

from collections.abc import Callable

import pytest

from sweepapi import networks
from sweepapi.errors import TokensRefused
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.tokens.erc20 import APPROVE
from sweepapi.evm.trial.legs import RouterSwap
from sweepapi.rpc.provider import MOST_CALLS
from sweeps.rails.evm.follow.following import MAX_CALLS
from tests.factories.sweeps import CONTRACT, LOCAL
from tests.local_chain import PERMIT2
from tests.sweeps.rails.evm.planner import Planner
from tests.wallets import delegate, deployed

pytestmark = pytest.mark.django_db

ALL = {"USDT": 2.0, "DAI": 2.0, "GUSD": 2.0, "WBTC": 0.001, "LINK": 3.0, "UNI": 4.0, "WETH": 0.5}


@pytest.mark.parametrize("units", [{"LINK": 1.0}, {"LINK": 1.0, "WETH": 0.1}, ALL])
@pytest.mark.parametrize("output", ["USDC", "ETH"])
def test_a_plan_takes_two_round_trips_and_one_for_a_last_hop(
    planner: Planner, round_trips: list[list[str]], units: dict[str, float], output: str
) -> None:
    planned = planner.sweep(units, output=output)
    assert (planned.last_hop is not None) == (output == "USDC")
    assert len(round_trips) == (2 if planned.last_hop is None else 3)


@pytest.mark.parametrize("others", [{}, ALL])
def test_no_more_than_that_finds_a_router_for_tokens_that_no_pool_can_carry(
    planner: Planner, round_trips: list[list[str]], others: dict[str, float]
) -> None:
    planned = planner.sweep({"TFEE": 5.0, **others})
    assert isinstance(planned.tokens[0].swap, RouterSwap)
    assert len(round_trips) == 3


def test_nothing_is_quoted_for_a_token_that_no_router_can_carry(
    planner: Planner, round_trips: list[list[str]], change_chain: Callable[..., Chain]
) -> None:
    change_chain(routers=networks.current().chain(LOCAL).routers[:1])  # V3's pools check what they receive
    with pytest.raises(TokensRefused):
        planner.sweep({"TFEE": 5.0}, output="WETH")
    assert len(round_trips) == 2


@pytest.mark.parametrize("output", ["USDC", "WETH"])
def test_thirty_tokens_take_as_many_round_trips_with_no_more_calls_than_providers_take(
    planner: Planner, round_trips: list[list[str]], output: str
) -> None:
    symbols = (ALL.keys() | {"TFEE", "USDC"}) - {output}
    units = {symbol: ALL.get(symbol, 5.0) for symbol in sorted(symbols)}
    units |= dict.fromkeys(planner.list_more(30 - len(units)), 1.0)
    round_trips.clear()
    planned = planner.sweep(units, output=output)
    assert (len(planned.tokens), sum(token.swap is None for token in planned.tokens)) == (30, 0)
    assert len(round_trips) == 3
    assert max(map(len, round_trips)) <= MAX_CALLS


@pytest.mark.parametrize("contract", [None, "SigningBatchAccount"])
def test_how_the_user_can_approve_is_read_in_the_same_round_trips(
    planner: Planner, round_trips: list[list[str]], contract: str | None
) -> None:
    user = planner.chain.users[0]
    symbols = (ALL.keys() | {"TFEE"}) - {"WETH"}
    symbols |= set(planner.list_more(30 - len(symbols)))
    for symbol in symbols:  # an allowance that does not suffice takes the most calls
        for spender in (PERMIT2, CONTRACT):
            data = "0x" + APPROVE.encode(spender, 5).hex()
            planner.chain.send(user, {"to": planner.token(symbol).address, "data": data})
    if contract is not None:
        delegate(planner.chain, user, deployed(planner.chain, contract))
    round_trips.clear()
    planned = planner.sweep({symbol: ALL.get(symbol, 5.0) for symbol in sorted(symbols)})
    tokens = planner.tokens(planned)
    assert [symbol for symbol, token in tokens.items() if token.needs_reset] == ["USDT"]
    assert {symbol for symbol, token in tokens.items() if token.permits is not None} == {"DAI", "UNI"}
    assert planned.wallet.answers_eip1271 is (None if contract is None else True)
    assert len(round_trips) == 3
    assert max(map(len, round_trips)) <= MOST_CALLS
