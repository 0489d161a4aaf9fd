"""Deploys the tokens that force outcomes in the sandbox, with pools against the wrapped coin."""

from collections.abc import Mapping
from enum import IntEnum

from dev.chain.sender import Sender

DECIMALS = 18
COIN = 10**DECIMALS
# By the names in the chains file, which the guide to the sandbox explains.
SYMBOLS = {
    "script": "SCRIPT",
    "no_route": "NOROUTE",
    "honeypot": "HONEY",
    "failing_simulation": "NOSIM",
    "price_impact": "THIN",
    "transfer_tax": "TAXED",
    "revert": "STALE",
}
POOL_SIDE = 10**6 * COIN  # a thousand tokens, which the faucet gives, move its price by 0.2 %
THIN_SIDE = 1_000 * COIN


class Failure(IntEnum):
    """As in SandboxToken.sol."""

    NONE = 0
    SALE = 1
    SWEEP = 2
    LATER = 3
    TAX = 4


_FAILURES = {
    "honeypot": Failure.SALE,
    "failing_simulation": Failure.SWEEP,
    "revert": Failure.LATER,
    "transfer_tax": Failure.TAX,
}


def deploy_sandbox_tokens(sender: Sender, contracts: Mapping[str, str]) -> dict[str, str]:
    """Queue the tokens and their pools; returns the addresses by name."""
    tokens = {name: _create(sender, name) for name in SYMBOLS}
    sender.call(contracts["weth"], "deposit()", value=len(tokens) * POOL_SIDE // 1_000)
    for name, token in tokens.items():
        if name != "no_route":
            _open_pool(sender, contracts, token, THIN_SIDE if name == "price_impact" else POOL_SIDE)
    return tokens


def _create(sender: Sender, name: str) -> str:
    return sender.create("SandboxToken", f"Sandbox {name}", SYMBOLS[name], _FAILURES.get(name, Failure.NONE))


def _open_pool(sender: Sender, contracts: Mapping[str, str], token: str, side: int) -> None:
    """Fill a pool from the token's stock; a thousand tokens cost a coin."""
    factory, weth = contracts["uniswapV2Factory"], contracts["weth"]
    sender.call(factory, "createPair(address,address)", token, weth)
    sender.flush()
    pair = sender.read_address(factory, "getPair(address,address)", token, weth)
    sender.call(token, "seed(address,uint256)", pair, side)
    sender.call(weth, "transfer(address,uint256)", pair, side // 1_000)
    sender.call(pair, "mint(address)", sender.address)
