"""The local chain has what the service, the tests and the demo rely on."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import decode
from eth_utils.crypto import keccak

from dev.chain.catalog import POOLS, Pool
from dev.chain.rpc import Rpc
from dev.chain.sender import calldata
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.pools.venues import pool_address

WORLD: dict[str, Any] = json.loads(Path(os.environ["DEV_WORLD_FILE"]).read_text())
ROUTER_SWAPS = (
    "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
    "exactInput((bytes,address,uint256,uint256))",
    "swapExactTokensForTokens(uint256,uint256,address[],address)",
)
POOL_ADDRESS = "poolAddress(uint16,address,address,uint24)"
QUOTE_V3 = "quoteExactInputSingle((address,address,uint256,uint24,uint160))"
SHIPPED = Path(__file__).parents[2] / "config" / "chains.toml"
SERVED = load_chains(Path(os.environ["CHAINS_FILE"]))["local"]
BOTH_WAYS = [pytest.param(pool, flip, id=f"{pool}-{flip}") for pool in POOLS for flip in (False, True)]


@pytest.fixture(scope="module")
def rpc() -> Rpc:
    return Rpc(WORLD["rpcUrl"])


def read(rpc: Rpc, to: str, returns: str, signature: str, *arguments: object) -> Any:
    data = rpc.call("eth_call", {"to": to, "data": "0x" + calldata(signature, *arguments).hex()}, "latest")
    return decode([returns], bytes.fromhex(data[2:]))[0]


def quote(rpc: Rpc, pool: Pool, path: tuple[str, str], amount: int) -> int:
    start, end = (WORLD["tokens"][symbol]["address"] for symbol in path)
    contracts = WORLD["contracts"]
    if pool.fee is None:
        router = contracts["uniswapV2Router"]
        outputs = read(rpc, router, "uint256[]", "getAmountsOut(uint256,address[])", amount, [start, end])
        return int(outputs[-1])
    return int(read(rpc, contracts["quoterV2"], "uint256", QUOTE_V3, (start, end, amount, pool.fee, 0)))


@pytest.mark.parametrize(("pool", "flip"), BOTH_WAYS)
def test_three_units_of_any_token_move_the_price_by_less_than_a_thousandth(rpc: Rpc, pool: Pool, flip: bool) -> None:  # noqa: FBT001
    path = (pool.other, pool.token) if flip else (pool.token, pool.other)
    units = 10 ** WORLD["tokens"][path[0]]["decimals"]
    # The price impact is how much less the second three units get than the first three.
    first, six = quote(rpc, pool, path, 3 * units), quote(rpc, pool, path, 6 * units)
    assert first > 0
    assert (six - first) * 1000 > first * 999 - 2000  # rounding takes up to two of the smallest output units


def test_permit2_has_the_domain_separator_of_this_chain(rpc: Rpc) -> None:
    domain = keccak(text="EIP712Domain(string name,uint256 chainId,address verifyingContract)") + keccak(text="Permit2")
    permit2 = WORLD["contracts"]["permit2"]
    assert permit2 == "0x000000000022D473030F116dDEE9F6B43aC78BA3"
    expected = keccak(domain + (31337).to_bytes(32, "big") + bytes(12) + bytes.fromhex(permit2[2:]))
    assert read(rpc, permit2, "bytes32", "DOMAIN_SEPARATOR()") == expected


def test_tokens_have_the_decimals_of_the_description(rpc: Rpc) -> None:
    for token in WORLD["tokens"].values():
        assert read(rpc, token["address"], "uint8", "decimals()") == token["decimals"]
    assert {token["decimals"] for token in WORLD["tokens"].values()} == {2, 6, 8, 18}


def test_five_users_hold_a_thousand_of_each_token_and_a_hundred_coins(rpc: Rpc) -> None:
    assert len(WORLD["users"]) == 5
    for user in WORLD["users"]:
        assert int(rpc.call("eth_getBalance", user["address"], "latest"), 16) >= 100 * 10**18
        for token in WORLD["tokens"].values():
            balance = read(rpc, token["address"], "uint256", "balanceOf(address)", user["address"])
            assert balance >= 1000 * 10 ** token["decimals"]


@pytest.mark.parametrize("batch", ["v5", "v4"])
def test_the_batch_contracts_list_the_routers_swaps_and_nothing_else(rpc: Rpc, batch: str) -> None:
    listed = read(rpc, WORLD["contracts"][batch], "(address,bytes4,address)[]", "allowedRouters()")
    router = WORLD["contracts"]["swapRouter02"].lower()
    assert sorted(listed) == sorted((router, keccak(text=swap)[:4], router) for swap in ROUTER_SWAPS)


@pytest.mark.parametrize("batch", ["v5", "v4"])
def test_the_batch_contracts_list_both_venues(rpc: Rpc, batch: str) -> None:
    listed = read(rpc, WORLD["contracts"][batch], "(uint16,(address,uint8,uint8,uint16,bytes4,bytes32))[]", "venues()")
    factories = [WORLD["contracts"][name].lower() for name in ("uniswapV3Factory", "uniswapV2Factory")]
    assert [(number, deployer) for number, (deployer, *_) in sorted(listed)] == list(enumerate(factories, start=1))


def test_uniswaps_packages_create_pools_of_the_same_code_as_on_public_chains() -> None:
    local, ethereum = SERVED.venues, load_chains(SHIPPED)["ethereum"].venues
    assert [venue.init_code_hash for venue in local] == [venue.init_code_hash for venue in ethereum]


def test_the_deployment_is_finalized(rpc: Rpc) -> None:
    finalized_logs = {"address": WORLD["contracts"]["v5"], "fromBlock": "0x0", "toBlock": "finalized"}
    assert rpc.call("eth_getLogs", finalized_logs) != []


def test_the_service_reads_the_chains_file() -> None:
    assert SERVED.v5_contract == WORLD["contracts"]["v5"]


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: f"{pool.token} {pool.other} {pool.fee}")
def test_every_pool_is_at_the_address_that_its_venue_gives_it(rpc: Rpc, pool: Pool) -> None:
    venue, fee = SERVED.venues[pool.fee is None], pool.fee or 0
    token, other = (WORLD["tokens"][symbol]["address"] for symbol in (pool.token, pool.other))
    address = pool_address(venue, token, other, fee)
    tokens = {read(rpc, address, "address", f"{side}()") for side in ("token0", "token1")}
    assert tokens == {token.lower(), other.lower()}
    for batch in ("v5", "v4"):
        computed = read(rpc, WORLD["contracts"][batch], "address", POOL_ADDRESS, venue.id, token, other, fee)
        assert computed == address.lower()
