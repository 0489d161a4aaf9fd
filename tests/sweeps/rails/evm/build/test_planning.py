"""A plan swaps every token in a pool where a venue has one, and fixes what each token has to give."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.conf import settings

from sweepapi import networks
from sweepapi.errors import SweepApiError, TokensRefused
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import multicall
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap, WrappedSwap
from sweepapi.worth.left_out import LeftOut
from sweeps.protocol.rail import BuildWarning
from sweeps.protocol.refusing import require_all
from sweeps.protocol.request import TokenInput
from sweeps.rails.evm.build.stages import EvmPlanned, EvmToken
from tests.factories.sweeps import LOCAL
from tests.sweeps.rails.evm.planner import FEE_BPS, Planner
from tests.thin_pools import open_thin_pool

pytestmark = pytest.mark.django_db

JOINED = {"GUSD": 2.0, "WBTC": 0.001, "LINK": 3.0, "UNI": 4.0}  # in a sweep into USDC, for lack of a pool with it
DIRECT = {"USDT": 2.0, "DAI": 3.0}


def pool_swap(token: EvmToken) -> PoolSwap:
    assert isinstance(token.swap, PoolSwap)
    return token.swap


def router_swap(token: EvmToken) -> RouterSwap:
    assert isinstance(token.swap, RouterSwap)
    return token.swap


def router_warnings(planned: EvmPlanned) -> list[BuildWarning]:
    return [warning for warning in planned.warnings if warning.code == "router_swap"]


def quoted(hop: PoolHop, amount: int) -> int:
    """Return what a pool would give now, by the quoter or the reserves."""
    call = multicall(multicall3=networks.current().chain(LOCAL).multicall3, reads=[finder.quote_read(hop, amount)])
    ((result,),) = networks.current().pool(LOCAL).batch([call])
    quote = finder.quoted(hop, amount, result)
    assert quote is not None
    return quote.expected_output


def refusals(error: SweepApiError) -> list[tuple[str, str]]:
    return [(detail.field, detail.code) for detail in error.details]


# --- pools ------------------------------------------------------------------------------------------------------------


def test_a_token_with_a_pool_for_the_output_is_swapped_in_it(planner: Planner) -> None:
    planned = planner.sweep(DIRECT)
    assert planned.last_hop is None
    for token in planned.tokens:
        swap = pool_swap(token)
        assert (swap.joined, swap.least_wrapped) == (False, 0)
        assert (swap.hop.token_in, swap.hop.token_out) == (token.asset, planned.market.output)
        assert token.expected_output == quoted(swap.hop, token.amount)


def test_tokens_without_one_share_a_last_hop_that_is_quoted_on_their_sum(planner: Planner) -> None:
    planned = planner.sweep(JOINED)
    last, wrapped = planned.last_hop, planned.market.chain.wrapped_native
    assert last is not None
    assert (last.token_in, last.token_out) == (wrapped, planned.market.output)
    brought = []
    for token in planned.tokens:
        swap = pool_swap(token)
        assert (swap.joined, swap.hop.token_out) == (True, wrapped)
        brought.append(quoted(swap.hop, token.amount))
    output = quoted(last, sum(brought))
    expected = [token.expected_output for token in planned.tokens]
    assert sum(expected) == output
    assert all(abs(each - output * one // sum(brought)) <= 1 for each, one in zip(expected, brought, strict=True))


def test_the_last_hop_is_the_best_pool_for_the_sum(planner: Planner) -> None:
    last = planner.sweep(JOINED).last_hop
    assert last is not None
    assert (last.venue.name, last.fee_tier) == ("uniswap_v2", None)  # where the catalog's price of USDC is the lowest


def test_both_kinds_of_pool_legs_go_together(planner: Planner) -> None:
    tokens = planner.tokens(planner.sweep(DIRECT | JOINED))
    assert {symbol for symbol, token in tokens.items() if pool_swap(token).joined} == JOINED.keys()


@pytest.mark.parametrize("output", ["WETH", "ETH"])
def test_nothing_is_joined_on_the_way_to_the_wrapped_or_the_native_coin(planner: Planner, output: str) -> None:
    planned = planner.sweep(DIRECT | JOINED, output=output)
    assert planned.last_hop is None
    assert not any(pool_swap(token).joined for token in planned.tokens)


def test_the_wrapped_coin_joins_a_last_hop(planner: Planner) -> None:
    planned = planner.sweep({"LINK": 1.0, "WETH": 0.5})
    tokens = planner.tokens(planned)
    assert tokens["WETH"].swap == WrappedSwap(joined=True)
    assert planned.last_hop is not None
    link = quoted(pool_swap(tokens["LINK"]).hop, tokens["LINK"].amount)
    whole = quoted(planned.last_hop, link + tokens["WETH"].amount)
    share = whole * tokens["WETH"].amount // (link + tokens["WETH"].amount)
    assert tokens["WETH"].expected_output in (share, share + 1)


@pytest.mark.parametrize("others", [{}, DIRECT])
def test_the_wrapped_coin_that_nothing_else_joins_has_the_pool_for_itself(
    planner: Planner, others: dict[str, float]
) -> None:
    planned = planner.sweep({"WETH": 0.5, **others})
    assert planned.last_hop is None
    swap = pool_swap(planned.tokens[0])
    assert not swap.joined
    assert planned.tokens[0].expected_output == quoted(swap.hop, planned.tokens[0].amount)


def test_the_wrapped_coin_is_unwrapped_at_par(planner: Planner) -> None:
    (token,) = planner.sweep({"WETH": 0.5}, output="ETH").tokens
    assert token.swap == WrappedSwap(joined=False)
    assert token.expected_output == token.min_output == token.amount
    assert not token.skippable


def test_no_two_legs_share_a_pool(planner: Planner) -> None:
    for output in ("USDC", "WETH", "ETH", "DAI", "GUSD"):
        units = {symbol: 1.0 for symbol in ("USDC", *DIRECT, *JOINED, "WETH") if symbol != output}
        planned = planner.sweep(units, output=output)
        hops = [token.swap.hop for token in planned.tokens if isinstance(token.swap, PoolSwap)]
        pools = [hop.pool for hop in [*hops, *filter(None, [planned.last_hop])]]
        assert len(pools) == len(set(pools))


def test_a_thin_pool_is_the_last_hop_only_for_sums_that_it_can_take(planner: Planner) -> None:
    weth, uni = planner.token("WETH"), planner.token("UNI")
    open_thin_pool(planner.chain, (weth, 0.05), (uni, 5000), fee=500)  # at 300 times the usual price

    def fee_tier(**units: float) -> int | None:
        last = planner.sweep(units, output="UNI").last_hop
        return None if last is None else last.fee_tier

    assert fee_tier(LINK=5) == fee_tier(GUSD=75) == 500  # 0.03 of the wrapped coin each
    assert fee_tier(LINK=5, GUSD=75) != 500


# --- minimums and floors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["USDC", "ETH"])
def test_minimums_are_under_the_quotes_by_the_slippage_and_floors_net_of_the_fee(planner: Planner, output: str) -> None:
    for token in planner.sweep(DIRECT | JOINED, output=output, slippage_bps=250).tokens:
        assert token.min_output == token.expected_output * 9_750 // 10_000
        assert token.floor == token.min_output * (10_000 - FEE_BPS) // 10_000


def test_the_pool_of_a_joined_token_may_use_half_of_the_slippage_if_it_can_be_skipped(planner: Planner) -> None:
    for max_skipped, share_bps in ((None, 9_900), (0, 9_800)):
        for token in planner.sweep(JOINED, slippage_bps=200, max_skipped=max_skipped).tokens:
            swap = pool_swap(token)
            whole = quoted(swap.hop, token.amount)
            assert swap.least_wrapped == pytest.approx(whole * share_bps / 10_000, rel=2e-4)


def test_a_token_that_is_refused_for_two_reasons_is_named_once(planner: Planner) -> None:
    planned = planner.sweep({"USDT": 1, "DAI": 1})
    asset = planned.tokens[1].asset
    reasons = [LeftOut(asset, 1, "simulation_failed", "First."), LeftOut(asset, 1, "takes_other_tokens", "Second.")]
    with pytest.raises(TokensRefused) as refused:
        require_all(replace(planned, left_out=reasons))
    assert refusals(refused.value) == [("tokens[1].mint", "takes_other_tokens")]


def test_an_amount_whose_floor_rounds_to_zero_is_refused(planner: Planner) -> None:
    with pytest.raises(TokensRefused) as refused:
        planner.sweep({"USDT": 1, "DAI": 0.016}, output="GUSD", accepts_uneconomic=True)
    assert refusals(refused.value) == [("tokens[1].mint", "output_too_small")]


# --- skipping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("requested", "allowed"), [(None, 3), (0, 0), (1, 1), (3, 3), (4, 3), (255, 3)])
def test_all_pool_legs_but_one_may_be_skipped_or_fewer_on_request(
    planner: Planner, requested: int | None, allowed: int
) -> None:
    planned = planner.sweep(JOINED, max_skipped=requested)
    assert planned.max_skipped == allowed
    assert {token.skippable for token in planned.tokens} == {allowed > 0}


def test_the_only_pool_leg_is_never_skipped(planner: Planner) -> None:
    planned = planner.sweep({"LINK": 1.0, "WETH": 0.5}, max_skipped=1)
    assert (planned.max_skipped, [token.skippable for token in planned.tokens]) == (0, [False, False])


def test_what_is_not_swapped_in_a_pool_is_never_skipped(planner: Planner) -> None:
    tokens = planner.tokens(planner.sweep({"LINK": 1.0, "UNI": 1.0, "WETH": 0.5, "TFEE": 1.0}))
    assert {symbol: token.skippable for symbol, token in tokens.items()} == {
        "LINK": True,
        "UNI": True,
        "WETH": False,
        "TFEE": False,
    }


# --- routers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def without_venues(planner: Planner, change_chain: Callable[..., Chain]) -> Planner:
    """The chain's pools belong to no venue, and only routers find them."""
    change_chain(venues=())
    return planner


def test_a_router_swaps_what_no_venue_has_a_pool_for(without_venues: Planner) -> None:
    planned = without_venues.sweep({"LINK": 1.0})
    (token,) = planned.tokens
    swap = router_swap(token)
    assert (swap.amount_in, swap.route.path) == (
        token.amount,
        (token.asset, planned.market.chain.wrapped_native, planned.market.output),
    )
    assert token.min_output == token.expected_output * 9_900 // 10_000
    assert (planned.max_skipped, token.skippable, router_warnings(planned)) == (0, False, [])


def test_beside_another_token_a_router_is_held_close_to_its_quote_and_the_partner_is_warned(
    without_venues: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slippage_bps in (50, 20):
        monkeypatch.setattr(settings, "ROUTER_LEG_SLIPPAGE_BPS", slippage_bps)
        planned = without_venues.sweep({"LINK": 1.0, "UNI": 1.0})
        assert {token.min_output * 10_000 // token.expected_output for token in planned.tokens} == {
            9_999 - slippage_bps
        }
        assert [(warning.code, warning.token) for warning in router_warnings(planned)] == [
            ("router_swap", token.asset) for token in planned.tokens
        ]


def test_a_slippage_smaller_than_that_holds_for_a_router_too(without_venues: Planner) -> None:
    for token in without_venues.sweep({"LINK": 1.0, "UNI": 1.0}, slippage_bps=10).tokens:
        assert token.min_output == token.expected_output * 9_990 // 10_000


def test_routers_take_what_they_swap_better_and_what_has_no_pool(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(venues=networks.current().chain(LOCAL).venues[:1])  # without V2, which has GUSD's only pool
    tokens = planner.tokens(planner.sweep({"LINK": 1.0, "USDT": 1.0, "GUSD": 200.0}))
    assert pool_swap(tokens["USDT"]).hop.venue.name == "uniswap_v3"
    assert router_swap(tokens["GUSD"]).route.router.name == "uniswap_v2"
    assert router_swap(tokens["LINK"]).route.router.name == "uniswap_v2"  # at a price 60 basis points higher


def test_a_pool_that_is_not_where_the_contract_computes_it_is_none_of_the_venues(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    venues = networks.current().chain(LOCAL).venues
    change_chain(venues=tuple(replace(venue, init_code_hash="0x" + "12" * 32) for venue in venues))
    (token,) = planner.sweep({"LINK": 1.0}).tokens
    router_swap(token)


def test_without_venues_and_routers_no_token_has_a_route(
    without_venues: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(routers=())
    with pytest.raises(TokensRefused) as refused:
        without_venues.sweep({"LINK": 1.0, "WETH": 1.0})
    assert refusals(refused.value) == [("tokens[0].mint", "no_route"), ("tokens[1].mint", "no_route")]


# --- amounts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("symbol", "output"), [("LINK", "USDC"), ("WETH", "USDC"), ("WETH", "ETH")])
@pytest.mark.parametrize("amount", [2**128, 2**256 - 1])
def test_an_amount_that_no_leg_can_take_has_no_route(planner: Planner, symbol: str, output: str, amount: int) -> None:
    token = TokenInput(planner.token(symbol).address, amount)
    with pytest.raises(TokensRefused) as refused:
        planner.plan(planner.request({}, output=output, tokens=[token]))
    assert refusals(refused.value) == [("tokens[0].mint", "no_route")]


def test_joined_tokens_whose_sum_the_last_hop_cannot_take_have_no_route(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(routers=())
    tokens = [TokenInput(planner.token("WETH").address, 2**128 - 1), TokenInput(planner.token("LINK").address, 10**18)]
    with pytest.raises(TokensRefused) as refused:
        planner.plan(planner.request({}, tokens=tokens))
    assert refusals(refused.value) == [("tokens[0].mint", "no_route"), ("tokens[1].mint", "no_route")]
