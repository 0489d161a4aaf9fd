"""A renewed plan keeps what the user signed, and drops tokens that no longer give it, if the user allowed that."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from sweepapi import networks
from sweepapi.errors import InvalidRequest
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap, WrappedSwap
from sweeps.protocol.rail import BelowMinimumError
from sweeps.protocol.request import BuildRequest
from sweeps.rails.evm.build.issues import allowance_issues, balance_issues
from sweeps.rails.evm.build.stages import EvmPlanned, SignedTerms
from tests.factories.sweeps import LOCAL
from tests.sweeps.rails.evm.planner import FEE_BPS, Planner

pytestmark = pytest.mark.django_db

UNITS = {"USDT": 2.0, "GUSD": 2.0, "LINK": 3.0, "UNI": 4.0}  # into USDC, the first directly and the others joined
REVERTS = "60006000fd"


def signed(planned: EvmPlanned, **times: float) -> SignedTerms:
    """Return the terms of a plan, with the floors of some symbols multiplied."""
    floors = [int(token.floor * times.get(token.symbol, 1)) for token in planned.tokens]
    return SignedTerms(floors, planned.max_skipped)


def remembered(request: BuildRequest, planned: EvmPlanned) -> BuildRequest:
    """Return the request of a renewal, which has the tokens as they were stored."""
    tokens = [
        replace(token, symbol=known.symbol, decimals=known.decimals)
        for token, known in zip(request.tokens, planned.tokens, strict=True)
    ]
    return replace(request, tokens=tokens)


def renewed(
    planner: Planner, units: Mapping[str, float], *, max_skipped: int | None = None, **times: float
) -> tuple[EvmPlanned, EvmPlanned]:
    """Plan a sweep and renew it; return both plans."""
    request = planner.request(units, max_skipped=max_skipped)
    first = planner.plan(request)
    return first, planner.plan(remembered(request, first), signed(first, **times))


def dropped(planned: EvmPlanned) -> set[str]:
    return {token.symbol for token in planned.tokens if token.swap is None}


def test_at_the_same_prices_nothing_changes(planner: Planner) -> None:
    first, second = renewed(planner, UNITS)
    assert second.max_skipped == first.max_skipped == 3
    assert second.last_hop == first.last_hop
    for before, now in zip(first.tokens, second.tokens, strict=True):
        assert (now.floor, now.expected_output, now.skippable) == (before.floor, before.expected_output, True)
        assert now.min_output == pytest.approx(before.min_output, rel=1e-5)


def test_the_minimum_is_the_least_that_reaches_the_floor(planner: Planner) -> None:
    _, second = renewed(planner, UNITS, USDT=0.5, LINK=0.5)
    for token in second.tokens:
        assert token.min_output * (10_000 - FEE_BPS) >= token.floor * 10_000
        assert (token.min_output - 1) * (10_000 - FEE_BPS) < token.floor * 10_000


def test_a_token_whose_pool_no_longer_pays_its_floor_is_dropped(planner: Planner) -> None:
    first, second = renewed(planner, UNITS, USDT=1.02)
    assert dropped(second) == {"USDT"}
    token = second.tokens[0]
    assert (token.amount, token.expected_output, token.min_output) == (first.tokens[0].amount, 0, 0)
    assert token.floor == int(first.tokens[0].floor * 1.02)
    assert not token.skippable
    assert second.max_skipped == first.max_skipped
    assert second.expected.gross_output == sum(one.expected_output for one in first.tokens[1:])


def test_a_joined_token_is_dropped_only_if_the_others_do_not_make_up_for_it(planner: Planner) -> None:
    assert dropped(renewed(planner, UNITS, GUSD=1.02, LINK=0.9)[1]) == set()
    assert dropped(renewed(planner, UNITS, GUSD=3.0)[1]) == {"GUSD"}
    assert dropped(renewed(planner, UNITS, GUSD=3.0, LINK=1.5)[1]) == {"GUSD", "LINK"}


def test_without_what_was_dropped_the_last_hop_gives_a_part_in_proportion(
    planner: Planner, round_trips: list[list[str]]
) -> None:
    request = planner.request(UNITS)
    first = planner.plan(request)
    round_trips.clear()
    second = planner.plan(request, signed(first, GUSD=3.0))
    assert dropped(second) == {"GUSD"}
    assert len(round_trips) == 3
    assert second.last_hop == first.last_hop
    for before, now in zip(first.tokens, second.tokens, strict=True):
        if now.swap is not None:
            assert now.expected_output == pytest.approx(before.expected_output, abs=1)


def test_the_wrapped_coin_takes_the_pool_for_itself_once_nothing_joins_it(planner: Planner) -> None:
    first, second = renewed(planner, {"GUSD": 2.0, "USDT": 1.0, "WETH": 0.0001}, GUSD=3.0)
    assert first.tokens[2].swap == WrappedSwap(joined=True)
    assert isinstance(second.tokens[2].swap, PoolSwap)
    assert (dropped(second), second.last_hop) == ({"GUSD"}, None)


def test_if_every_joined_token_is_dropped_there_is_no_last_hop(planner: Planner) -> None:
    _, second = renewed(planner, UNITS, GUSD=3.0, LINK=3.0, UNI=3.0)
    assert (dropped(second), second.last_hop) == ({"GUSD", "LINK", "UNI"}, None)


@pytest.mark.parametrize(("max_skipped", "skippable"), [(1, False), (2, True)])
def test_dropped_tokens_count_among_those_that_may_be_left_out(
    planner: Planner, max_skipped: int, *, skippable: bool
) -> None:
    _, second = renewed(planner, UNITS, max_skipped=max_skipped, USDT=1.02)
    assert {token.skippable for token in second.tokens if token.swap is not None} == {skippable}
    assert second.max_skipped == max_skipped


def test_more_tokens_than_the_user_allowed_are_not_dropped(planner: Planner) -> None:
    with pytest.raises(BelowMinimumError):
        renewed(planner, UNITS, max_skipped=0, USDT=1.02)
    with pytest.raises(BelowMinimumError):
        renewed(planner, UNITS, max_skipped=1, USDT=1.02, GUSD=3.0)


def test_the_pools_of_joined_tokens_are_held_to_the_whole_minimum_once_none_may_be_skipped(planner: Planner) -> None:
    leasts = []
    for max_skipped in (1, 2):
        _, second = renewed(planner, UNITS, max_skipped=max_skipped, USDT=1.02)
        assert isinstance(second.tokens[2].swap, PoolSwap)
        leasts.append(second.tokens[2].swap.least_wrapped)
    assert leasts[0] < leasts[1]


def test_at_least_one_token_remains(planner: Planner) -> None:
    request = planner.request({"USDT": 2.0, "DAI": 2.0})
    terms = SignedTerms([10**12, 10**12], max_skipped=255)
    with pytest.raises(BelowMinimumError):
        planner.plan(request, terms)


def test_a_token_that_is_not_one_any_more_is_dropped_under_its_stored_name(planner: Planner) -> None:
    request = planner.request(UNITS)
    first = planner.plan(request)
    planner.chain.put_code(planner.token("LINK").address, REVERTS)
    second = planner.plan(remembered(request, first), signed(first))
    assert dropped(second) == {"LINK"}
    assert second.tokens[2].decimals == 18
    assert list(allowance_issues(second))
    assert second.tokens[2].asset not in {issue.token for issue in allowance_issues(second)}
    assert second.tokens[2].asset not in {issue.token for issue in balance_issues(second)}


def test_a_token_without_a_route_is_dropped(planner: Planner, change_chain: Callable[..., Chain]) -> None:
    request = planner.request(UNITS)
    first = planner.plan(request)
    change_chain(venues=networks.current().chain(LOCAL).venues[:1], routers=())
    assert dropped(planner.plan(request, signed(first, LINK=0.9, UNI=0.9))) == {"GUSD"}


def test_a_token_that_no_router_carries_any_more_is_dropped(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    request = planner.request({"TFEE": 5.0, **UNITS})
    first = planner.plan(request)
    assert isinstance(first.tokens[0].swap, RouterSwap)
    assert dropped(planner.plan(request, signed(first))) == set()
    assert dropped(planner.plan(request, signed(first, TFEE=1.02))) == {"TFEE"}
    change_chain(routers=networks.current().chain(LOCAL).routers[:1])
    assert dropped(planner.plan(request, signed(first))) == {"TFEE"}


def test_an_output_that_is_not_a_token_any_more_is_refused(planner: Planner) -> None:
    request = planner.request({"USDT": 1.0, "LINK": 1.0})
    first = planner.plan(request)
    planner.chain.put_code(planner.token("USDC").address, REVERTS)
    with pytest.raises(InvalidRequest):
        planner.plan(request, signed(first))
