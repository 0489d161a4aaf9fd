"""Builds and discoveries at the pace of the swap API: what is asked once is not asked again, and limits have words."""

from collections.abc import Callable

import pytest

from dev.solana.swap_api.limit import PlanLimit
from dev.solana.swap_api.server import Response
from sweepapi import networks
from sweepapi.errors import SwapUnavailable
from sweepapi.networks import Networks
from sweeps.rails.solana_v1.availability import measured
from tests.solana_discovery import look
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db


def available(user: SolanaUser) -> bool:
    return user.cluster.facts().name in measured.measure(networks.current(), None)


@pytest.mark.parametrize(("slippage_bps", "asked"), [(50, 5), (60, 8)])  # with a quote of SOL and the verified list
def test_a_build_after_a_discovery_with_its_slippage_asks_nothing_twice(
    user: SolanaUser, change_networks: Callable[..., Networks], slippage_bps: int, asked: int
) -> None:
    sold = {user.hold(): 5 * DOLLAR for _ in range(3)}
    change_networks(swap_api_requests_per_minute=60)
    limit = user.market.api.admit = PlanLimit()

    answer = look(user, slippage_bps=slippage_bps)
    user.plan(sold, slippage_bps=50)

    assert answer["retryAfterSeconds"] is None
    assert limit.admitted == asked


def test_a_discovery_names_what_the_limit_left_out_and_says_when_to_ask_again(
    user: SolanaUser, change_networks: Callable[..., Networks]
) -> None:
    for _ in range(5):
        user.hold()
    change_networks(swap_api_requests_per_minute=10)  # half for discoveries: a list, the price of SOL, three tokens

    answer = look(user)

    assert sorted(str(token["reason"]) for token in answer["tokens"]) == ["None"] * 3 + ["not_quoted"] * 2
    assert 50 <= answer["retryAfterSeconds"] <= 60


def test_a_build_beyond_the_limit_sells_a_part_and_says_when_the_rest_can_be_sold(
    user: SolanaUser, change_networks: Callable[..., Networks]
) -> None:
    sold = {user.hold(): 5 * DOLLAR for _ in range(5)}
    change_networks(swap_api_requests_per_minute=3)

    planned = user.plan(sold, leaves_out=True)

    assert [token.asset for token in planned.tokens] == [str(mint) for mint in sold][:3]
    assert [(one.asset, one.reason) for one in planned.left_out] == [(str(mint), "not_quoted") for mint in sold][3:]
    assert "build it in 60 seconds" in planned.left_out[0].message


def test_a_build_waits_for_the_end_of_a_short_burst_of_refusals(user: SolanaUser) -> None:
    sold = {user.hold(): 5 * DOLLAR for _ in range(6)}
    user.market.api.admit = PlanLimit(requests=3, seconds=1)

    planned = user.plan(sold, leaves_out=True)

    assert (len(planned.tokens), planned.left_out) == (len(sold), [])


def test_a_build_beyond_the_limit_is_refused_until_the_swap_api_takes_more(user: SolanaUser) -> None:
    user.market.api.admit = PlanLimit(requests=0, seconds=40)
    with pytest.raises(SwapUnavailable) as refused:
        user.plan({user.hold(): 5 * DOLLAR})
    assert 30 <= (refused.value.retry_after_seconds or 0) <= 41


def test_a_cluster_is_unavailable_while_every_quote_fails(user: SolanaUser) -> None:
    sold = {user.hold(): 5 * DOLLAR}
    assert available(user)
    user.market.api.replace = lambda: Response(500)
    for _ in range(3):
        with pytest.raises(SwapUnavailable):
            user.plan(sold)
    assert not available(user)
    user.market.api.replace = None
    user.plan(sold)
    assert available(user)
