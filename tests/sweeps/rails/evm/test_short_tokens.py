"""A token that delivers less than is sent goes through a router that swaps what arrives, or is refused."""

import json
from collections.abc import Callable
from enum import IntEnum

import pytest
from eth_utils.address import to_checksum_address

from dev.chain.artifacts import CONTRACTS
from dev.chain.sender import calldata
from sweepapi import networks
from sweepapi.errors import InvalidRequest, SweepApiError, TokensRefused
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools.finder import swap_call
from sweepapi.evm.pools.venues import pool_address
from sweepapi.evm.tokens.erc20 import APPROVE
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap
from sweeps.rails.evm.build.stages import EvmToken
from tests.factories.sweeps import LOCAL
from tests.sweeps.rails.evm.planner import Planner
from tests.thin_pools import open_thin_pool

pytestmark = pytest.mark.django_db

TREAT = Function("treat(address,uint8,uint8)")
REVERTS = "60006000fd"


class Treatment(IntEnum):
    """As in HoneypotToken.sol, where a tax is 1 %."""

    HONEST = 0
    TAXED = 1
    REFUSED = 2
    TAXED_BELOW_ONE_TOKEN = 3


HONEST, TAXED, REFUSED, TAXED_BELOW_ONE_TOKEN = Treatment


@pytest.fixture
def honeypot(planner: Planner) -> Planner:
    """UNI with its balances and pools, and with code that can treat accounts differently."""
    compiled = json.loads((CONTRACTS / "out/HoneypotToken.sol/HoneypotToken.json").read_text(encoding="utf-8"))
    planner.chain.put_code(planner.token("UNI").address, compiled["deployedBytecode"]["object"].removeprefix("0x"))
    return planner


def treat(planner: Planner, account: str, *, as_sender: Treatment = HONEST, as_receiver: Treatment = HONEST) -> None:
    """Let UNI treat an account in this way."""
    data = f"0x{TREAT.encode(account, as_sender, as_receiver).hex()}"
    tx_hash = planner.chain.send(planner.chain.users[0], {"to": planner.token("UNI").address, "data": data})
    assert planner.chain.receipt(tx_hash)["status"] == 1


def pools(planner: Planner) -> tuple[str, str]:
    """Return UNI's pools with the wrapped coin, of V3 and V2."""
    v3, v2 = networks.current().chain(LOCAL).venues
    pair = planner.token("UNI").address, planner.token("WETH").address
    return pool_address(v3, *pair, 10_000), pool_address(v2, *pair, 0)


def router_swap(token: EvmToken) -> RouterSwap:
    assert isinstance(token.swap, RouterSwap)
    return token.swap


def pool_swap(planner: Planner, symbol: str) -> PoolSwap:
    """Return the swap of a token into the wrapped coin."""
    swap = planner.sweep({symbol: 1.0}, output="WETH").tokens[0].swap
    assert isinstance(swap, PoolSwap)
    return swap


def refusals(error: SweepApiError) -> list[tuple[str, str]]:
    return [(detail.field, detail.code) for detail in error.details]


@pytest.mark.parametrize("output", ["USDC", "WETH", "ETH"])
def test_a_token_with_a_transfer_fee_is_swapped_by_a_router(planner: Planner, output: str) -> None:
    (token,) = planner.sweep({"TFEE": 5.0}, output=output).tokens
    swap = router_swap(token)
    assert swap.route.router.name == "uniswap_v2"
    assert swap.amount_in == token.amount * 99 // 100 - 2


@pytest.mark.parametrize("output", ["USDC", "WETH"])
def test_the_router_gives_what_was_expected_of_what_arrives(planner: Planner, output: str) -> None:
    (token,) = planner.sweep({"TFEE": 5.0}, output=output).tokens
    swap, chain, (user, contract) = router_swap(token), planner.chain, planner.chain.users[:2]
    router, held = swap.route.router.address, chain.balance(contract.address, planner.token("TFEE"))
    before = chain.balance(contract.address, planner.token(output))
    call = swap_call(swap.route, amount_in=swap.amount_in, min_output=token.expected_output, recipient=contract.address)
    for sender, to, data in (
        (user, token.asset, calldata("transfer(address,uint256)", contract.address, token.amount)),
        (contract, token.asset, APPROVE.encode(router, swap.amount_in)),
        (contract, router, call),
    ):
        assert chain.receipt(chain.send(sender, {"to": to, "data": f"0x{data.hex()}"}))["status"] == 1
    assert chain.balance(contract.address, planner.token(output)) - before == pytest.approx(
        token.expected_output, rel=1e-9
    )
    assert chain.balance(contract.address, planner.token("TFEE")) - held == 2  # which the contract gives back


def test_a_holder_without_a_balance_gets_the_same_quote(planner: Planner) -> None:
    (token,) = planner.sweep({"TFEE": 5.0}).tokens
    (of_stranger,) = planner.sweep({"TFEE": 5.0}, wallet=to_checksum_address("0x" + "aa" * 20)).tokens
    assert of_stranger.swap == token.swap
    assert of_stranger.expected_output == token.expected_output


def test_the_last_hop_is_quoted_without_a_token_that_cannot_join_it(planner: Planner) -> None:
    with_it, without_it = (
        planner.sweep({"LINK": 1.0, "UNI": 1.0, "TFEE": 500.0}),
        planner.sweep({"LINK": 1.0, "UNI": 1.0}),
    )
    assert with_it.last_hop == without_it.last_hop
    assert [token.expected_output for token in with_it.tokens[:2]] == [
        token.expected_output for token in without_it.tokens
    ]


def test_a_token_whose_last_hop_was_lost_before_it_was_quoted_is_refused(
    planner: Planner, before_trip: Callable[..., None]
) -> None:
    v2 = networks.current().chain(LOCAL).venues[1]
    pair = pool_address(v2, planner.token("WETH").address, planner.token("USDC").address, 0)

    def lose_every_pool() -> None:
        for address in (pair, planner.chain.contracts["quoterV2"]):
            planner.chain.put_code(address, REVERTS)

    before_trip(3, lose_every_pool)
    with pytest.raises(TokensRefused) as refused:
        planner.sweep({"TFEE": 5.0, "LINK": 1.0})
    assert ("tokens[1].mint", "no_route") in refusals(refused.value)


def test_the_wrapped_coin_has_the_last_hop_for_itself_if_nothing_else_can_join_it(planner: Planner) -> None:
    planned = planner.sweep({"WETH": 0.5, "TFEE": 5.0})
    assert planned.last_hop is None
    assert isinstance(planned.tokens[0].swap, PoolSwap)
    assert planned.tokens[0].expected_output == planner.sweep({"WETH": 0.5}).tokens[0].expected_output


def test_without_a_router_that_measures_what_arrives_such_a_token_is_refused(
    planner: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(routers=networks.current().chain(LOCAL).routers[:1])  # V3's pools check what they receive
    with pytest.raises(TokensRefused) as refused:
        planner.sweep({"LINK": 1.0, "TFEE": 5.0})
    assert refusals(refused.value) == [("tokens[1].mint", "transfer_fee")]


def test_a_router_that_does_not_measure_what_arrives_is_not_asked(
    honeypot: Planner, change_chain: Callable[..., Chain]
) -> None:
    change_chain(routers=networks.current().chain(LOCAL).routers[:1])
    treat(honeypot, honeypot.chain.users[0].address, as_sender=TAXED)
    with pytest.raises(TokensRefused) as refused:
        honeypot.sweep({"UNI": 1.0}, output="WETH")
    assert refusals(refused.value) == [("tokens[0].mint", "transfer_fee")]


def test_all_tokens_that_have_no_way_are_named_at_once(planner: Planner, change_chain: Callable[..., Chain]) -> None:
    change_chain(routers=())
    with pytest.raises(TokensRefused) as refused:
        planner.sweep({"LINK": 1.0, "TFEE": 5.0, "UNI": 1e-18})
    assert refusals(refused.value) == [("tokens[1].mint", "transfer_fee"), ("tokens[2].mint", "no_route")]


def test_such_a_token_is_refused_as_output(planner: Planner) -> None:
    with pytest.raises(InvalidRequest) as refused:
        planner.sweep({"LINK": 1.0, "USDC": 1.0}, output="TFEE")
    assert refusals(refused.value) == [("outputMint", "transfer_fee")]


@pytest.mark.parametrize("at_user", [True, False])
def test_a_token_that_is_taxed_on_every_way_goes_by_router(honeypot: Planner, *, at_user: bool) -> None:
    assert isinstance(honeypot.sweep({"UNI": 1.0}, output="WETH").tokens[0].swap, PoolSwap)
    for account in [honeypot.chain.users[0].address] if at_user else pools(honeypot):
        treat(honeypot, account, as_sender=TAXED, as_receiver=TAXED)
    (token,) = honeypot.sweep({"UNI": 1.0}, output="WETH").tokens
    assert (router_swap(token).amount_in < token.amount) == at_user


def test_a_token_whose_small_transfers_are_taxed_goes_by_router(honeypot: Planner) -> None:
    treat(honeypot, honeypot.chain.users[0].address, as_sender=TAXED_BELOW_ONE_TOKEN)
    assert isinstance(honeypot.sweep({"UNI": 100.0}, output="WETH").tokens[0].swap, PoolSwap)
    (token,) = honeypot.sweep({"UNI": 99.0}, output="WETH").tokens
    assert router_swap(token).amount_in == token.amount  # of which nothing is lost


@pytest.mark.parametrize("way", ["as_sender", "as_receiver"])
@pytest.mark.parametrize("treatment", [TAXED, REFUSED])
def test_a_token_that_its_best_pool_does_not_take_in_full_goes_to_the_next(
    honeypot: Planner, treatment: Treatment, way: str
) -> None:
    swap = pool_swap(honeypot, "UNI")
    treat(honeypot, swap.hop.pool, **{way: treatment})
    assert {swap.hop.pool, pool_swap(honeypot, "UNI").hop.pool} == set(pools(honeypot))


def test_a_tax_of_every_pool_of_a_venue_leaves_the_router_another_one(
    honeypot: Planner, change_chain: Callable[..., Chain]
) -> None:
    in_v3, in_v2 = pools(honeypot)
    change_chain(venues=networks.current().chain(LOCAL).venues[:1])
    treat(honeypot, in_v3, as_receiver=TAXED)
    (token,) = honeypot.sweep({"UNI": 1.0}, output="WETH").tokens
    assert router_swap(token).route.pools == (in_v2,)


def test_a_router_is_quoted_for_what_arrives_in_its_own_pool(
    honeypot: Planner, change_chain: Callable[..., Chain]
) -> None:
    in_v3, in_v2 = pools(honeypot)
    change_chain(venues=networks.current().chain(LOCAL).venues[:1])
    treat(honeypot, in_v3, as_sender=TAXED)
    (in_full,) = honeypot.sweep({"UNI": 1.0}, output="WETH").tokens
    treat(honeypot, in_v2, as_receiver=TAXED)
    (taxed,) = honeypot.sweep({"UNI": 1.0}, output="WETH").tokens
    assert router_swap(taxed).amount_in == router_swap(in_full).amount_in == taxed.amount
    assert taxed.expected_output == pytest.approx(in_full.expected_output * 0.99, rel=1e-4)


def test_a_router_whose_pool_does_not_take_the_token_is_not_asked(
    honeypot: Planner, change_chain: Callable[..., Chain]
) -> None:
    in_v3, in_v2 = pools(honeypot)
    change_chain(venues=networks.current().chain(LOCAL).venues[:1])
    treat(honeypot, in_v3, as_sender=TAXED)
    treat(honeypot, in_v2, as_receiver=REFUSED)
    with pytest.raises(TokensRefused) as refused:
        honeypot.sweep({"UNI": 1.0}, output="WETH")
    assert refusals(refused.value) == [("tokens[0].mint", "transfer_fee")]


@pytest.mark.parametrize("joined", [True, False])
def test_an_output_that_its_pools_with_the_wrapped_coin_can_not_send_is_refused(
    honeypot: Planner, *, joined: bool
) -> None:
    for pool in pools(honeypot):
        treat(honeypot, pool, as_sender=REFUSED)
    with pytest.raises(InvalidRequest) as refused:
        honeypot.sweep({"LINK": 1.0} if joined else {"WETH": 1.0}, output="UNI")
    assert refusals(refused.value) == [("outputMint", "transfer_refused")]


def test_an_output_that_a_direct_pool_can_not_receive_is_refused(honeypot: Planner) -> None:
    uni, usdt = honeypot.token("UNI"), honeypot.token("USDT")
    open_thin_pool(honeypot.chain, (uni, 1000), (usdt, 1000), fee=500)
    venue = networks.current().chain(LOCAL).venues[0]
    pool = pool_address(venue, uni.address, usdt.address, 500)
    swap = honeypot.sweep({"USDT": 1.0}, output="UNI").tokens[0].swap
    assert isinstance(swap, PoolSwap)
    assert swap.hop.pool == pool
    treat(honeypot, pool, as_receiver=REFUSED)
    with pytest.raises(InvalidRequest) as refused:
        honeypot.sweep({"USDT": 1.0}, output="UNI")
    assert refusals(refused.value) == [("outputMint", "transfer_refused")]


@pytest.mark.parametrize("way", ["as_sender", "as_receiver"])
def test_a_token_that_its_pool_can_not_receive_or_send_is_refused(honeypot: Planner, way: str) -> None:
    for pool in pools(honeypot):
        treat(honeypot, pool, **{way: REFUSED})
    with pytest.raises(TokensRefused) as refused:
        honeypot.sweep({"LINK": 1.0, "UNI": 1.0}, output="WETH")
    assert refusals(refused.value) == [("tokens[1].mint", "transfer_refused")]
