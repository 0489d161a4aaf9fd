"""A draft takes few round trips, whatever the number of tokens, and few calls in each."""

import pytest

from sweeps.rails.evm.draft import RouterSwap
from sweeps.rails.evm.following import MAX_CALLS
from tests.sweeps.rails.evm.drafts import Drafter

pytestmark = pytest.mark.django_db

ALL = {"USDT": 2.0, "DAI": 2.0, "GUSD": 2.0, "WBTC": 0.001, "LINK": 3.0, "UNI": 4.0, "WETH": 0.5}


@pytest.mark.parametrize("units", [{"LINK": 1.0}, {"LINK": 1.0, "WETH": 0.1}, ALL])
@pytest.mark.parametrize("output", ["USDC", "ETH"])
def test_a_draft_takes_three_round_trips_also_with_a_last_hop(
    drafter: Drafter, round_trips: list[list[str]], units: dict[str, float], output: str
) -> None:
    draft = drafter.sweep(units, output=output)
    assert (draft.last_hop is not None) == (output == "USDC")
    assert len(round_trips) == 3


def test_one_more_finds_a_router_for_tokens_that_no_pool_can_carry(
    drafter: Drafter, round_trips: list[list[str]]
) -> None:
    draft = drafter.sweep({"TFEE": 5.0, **ALL})
    assert draft.last_hop is not None
    assert isinstance(draft.tokens[0].swap, RouterSwap)
    assert len(round_trips) == 4


@pytest.mark.parametrize("output", ["USDC", "WETH"])
def test_thirty_tokens_take_as_many_round_trips_with_no_more_calls_than_providers_take(
    drafter: Drafter, round_trips: list[list[str]], output: str
) -> None:
    symbols = (ALL.keys() | {"TFEE", "USDC"}) - {output}
    units = {symbol: ALL.get(symbol, 5.0) for symbol in sorted(symbols)}
    units |= dict.fromkeys(drafter.list_more(30 - len(units)), 1.0)
    round_trips.clear()
    draft = drafter.sweep(units, output=output)
    assert (len(draft.tokens), sum(token.swap is None for token in draft.tokens)) == (30, 0)
    assert len(round_trips) == 4
    assert max(map(len, round_trips)) <= MAX_CALLS
