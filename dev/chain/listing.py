"""Lists many equal tokens on the local chain, each with one pool, to fill sweeps with legs of one kind."""

from collections.abc import Mapping, Sequence
from math import isqrt

from dev.chain.deploy import deploying
from dev.chain.rpc import Rpc
from dev.chain.sender import Sender

CREATE_POOL = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
FULL_RANGE = 887_220  # of a fee of 3000
FEE = 3000
OWNER = "0x" + "0d" * 20
SIDE = 10**24
NEVER = 2**64


def list_tokens(  # noqa: PLR0913 - the properties of a market
    rpc: Rpc,
    contracts: Mapping[str, str],
    holders: Sequence[str],
    *,
    count: int,
    kind: str,
    decimals: int = 18,
    pool_side: int = SIDE,
) -> list[str]:
    """Deploy tokens, each with a pool of this kind to a million of the wrapped coin; holders get a thousand of each.

    The default for ``pool_side``, the token's smallest units in the pool, opens it at par.
    """
    weth, positions = contracts["weth"], contracts["positionManager"]
    with deploying(rpc, OWNER) as sender:
        sender.call(weth, "deposit()", value=count * SIDE)
        sender.call(weth, "approve(address,uint256)", positions, count * SIDE)
        tokens = [sender.create("MintableToken", f"Token {i}", f"T{i}", decimals) for i in range(count)]
        for token in tokens:
            sender.call(token, "mint(address,uint256)", OWNER, pool_side)
            for holder in holders:
                sender.call(token, "mint(address,uint256)", holder, 1_000 * 10**decimals)
            (_open_v3 if kind == "uniswap_v3" else _open_v2)(sender, contracts, token, pool_side)
    rpc.call("evm_increaseTime", 60)  # V2 pools write their accumulators once some time has passed
    rpc.call("evm_mine")
    return tokens


def _open_v3(sender: Sender, contracts: Mapping[str, str], token: str, pool_side: int) -> None:
    weth, positions = contracts["weth"], contracts["positionManager"]
    (low, low_side), (high, high_side) = sorted(((token, pool_side), (weth, SIDE)), key=lambda side: side[0].lower())
    sender.call(token, "approve(address,uint256)", positions, pool_side)
    sender.call(positions, CREATE_POOL, low, high, FEE, isqrt((high_side << 192) // low_side))
    amounts = (low_side, high_side, 0, 0)
    sender.call(positions, MINT, (low, high, FEE, -FULL_RANGE, FULL_RANGE, *amounts, OWNER, NEVER))


def _open_v2(sender: Sender, contracts: Mapping[str, str], token: str, pool_side: int) -> None:
    factory = contracts["uniswapV2Factory"]
    sender.call(factory, "createPair(address,address)", token, contracts["weth"])
    sender.flush()
    pair = sender.read_address(factory, "getPair(address,address)", token, contracts["weth"])
    for side, amount in ((token, pool_side), (contracts["weth"], SIDE)):
        sender.call(side, "transfer(address,uint256)", pair, amount)
    sender.call(pair, "mint(address)", OWNER)
