"""Pools' addresses are computed as an independent implementation computes them, and as real factories create them."""

import json
from pathlib import Path
from typing import Any

import pytest

from sweepapi.evm.chain.chains import SaltRule, Venue
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.pools.venues import pool_address

ROOT = Path(__file__).parents[4]
RULES = {"PairAndFee": SaltRule.PAIR_AND_FEE, "PackedPair": SaltRule.PACKED_PAIR}
ALL_VECTORS = json.loads((ROOT / "tests" / "vectors" / "pools.json").read_text(encoding="utf-8"))["pools"]
VECTORS = [vector for vector in ALL_VECTORS if vector["saltRule"] in RULES]
SHIPPED = load_chains(ROOT / "config" / "chains.toml")
# The pools of the chains' first USDC with the wrapped coin, as block explorers show them: V3 at 0.05 %, and V2.
KNOWN_POOLS = {
    "ethereum": (
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640",
        "0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc",
    ),
    "base": (
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "0xd0b53D9277642d899DF5C87A3966A349A798F224",
        "0x88A43bbDF9D098eEC7bCEda4e2494615dfD9bB9C",
    ),
    "arbitrum": (
        "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
        "0xC6962004f452bE9203591991D15f6b388e09E8D0",
        "0xF64Dfe17C8b87F012FCf50FbDA1D62bfA148366a",
    ),
}


def venue_of(vector: dict[str, Any]) -> Venue:
    deployer, rule = vector["deployer"], RULES[vector["saltRule"]]
    return Venue("", 1, "", deployer, deployer, rule, 0, bytes(4), vector["initCodeHash"], deployer, ())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_addresses_agree_with_the_vectors_in_either_order_of_the_tokens(vector: dict[str, Any]) -> None:
    venue, fee = venue_of(vector), vector["fee"]
    assert pool_address(venue, vector["tokenA"], vector["tokenB"], fee) == vector["address"]
    assert pool_address(venue, vector["tokenB"], vector["tokenA"], fee) == vector["address"]


def test_the_vectors_have_every_salt_rule() -> None:
    assert {RULES[vector["saltRule"]] for vector in VECTORS} == set(SaltRule)


@pytest.mark.parametrize("chain", KNOWN_POOLS)
def test_the_shipped_venues_are_those_of_known_pools(chain: str) -> None:
    usdc, v3_pool, v2_pool = KNOWN_POOLS[chain]
    v3, v2 = SHIPPED[chain].venues
    assert pool_address(v3, usdc, SHIPPED[chain].wrapped_native, 500) == v3_pool
    assert pool_address(v2, usdc, SHIPPED[chain].wrapped_native, 0) == v2_pool


def test_every_shipped_chain_has_known_pools() -> None:
    assert set(KNOWN_POOLS) == set(SHIPPED)
