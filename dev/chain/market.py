"""Creates the pools of the catalog, with full-range liquidity of equal value on both sides."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from dev.chain.catalog import POOL_SIDE_USD, POOLS, TOKENS, WRAPPED_DECIMALS, WRAPPED_PRICE_USD, Pool
from dev.chain.sender import Sender

MAX_UINT256 = 2**256 - 1
_BPS = 10_000
_MAX_TICK = 887_272
_TICK_SPACING = {100: 1, 500: 10, 3000: 60, 10_000: 200}
_MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"


@dataclass(frozen=True)
class _Side:
    """One token of a pool, and how much of it to add in its smallest unit."""

    token: str
    amount: int


def open_pools(sender: Sender, contracts: dict[str, str], tokens: dict[str, str]) -> None:
    """Queue the creation of all pools; the deployer mints the tokens and wraps its own coins."""
    weth = contracts["weth"]
    sender.call(weth, "deposit()", value=2 * len(POOLS) * int(POOL_SIDE_USD / WRAPPED_PRICE_USD) * 10**18)
    for token in [weth, *tokens.values()]:
        sender.call(token, "approve(address,uint256)", contracts["positionManager"], MAX_UINT256)
    for pool in POOLS:
        sides = _sides(pool, {**tokens, "WETH": weth})
        if pool.fee is None:
            _open_v2(sender, contracts["uniswapV2Factory"], weth, sides)
        else:
            _open_v3(sender, contracts["positionManager"], weth, pool.fee, sides)


def _sides(pool: Pool, addresses: dict[str, str]) -> tuple[_Side, _Side]:
    """Return the two sides in Uniswap's order: by address."""
    listed = {token.symbol: (token.price_usd, token.decimals) for token in TOKENS}
    listed["WETH"] = (WRAPPED_PRICE_USD, WRAPPED_DECIMALS)

    def side(symbol: str, side_usd: Fraction) -> _Side:
        price, decimals = listed[symbol]
        return _Side(addresses[symbol], int(side_usd / price * 10**decimals))

    token_side_usd = POOL_SIDE_USD * Fraction(_BPS, _BPS + pool.premium_bps)  # a higher price, so fewer tokens
    first, second = side(pool.token, token_side_usd), side(pool.other, POOL_SIDE_USD)
    return (first, second) if int(first.token, 16) < int(second.token, 16) else (second, first)


def _open_v2(sender: Sender, factory: str, weth: str, sides: tuple[_Side, _Side]) -> None:
    sender.call(factory, "createPair(address,address)", sides[0].token, sides[1].token)
    sender.flush()
    pair = sender.read_address(factory, "getPair(address,address)", sides[0].token, sides[1].token)
    for side in sides:
        _fund(sender, side, pair, weth)
    sender.call(pair, "mint(address)", sender.address)


def _open_v3(sender: Sender, positions: str, weth: str, fee: int, sides: tuple[_Side, _Side]) -> None:
    low, high = sides
    for side in sides:
        _fund(sender, side, sender.address, weth)
    create = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
    sender.call(positions, create, low.token, high.token, fee, isqrt((high.amount << 192) // low.amount))
    tick = _MAX_TICK // _TICK_SPACING[fee] * _TICK_SPACING[fee]
    amounts = (low.amount, high.amount, 0, 0)
    sender.call(positions, _MINT, (low.token, high.token, fee, -tick, tick, *amounts, sender.address, MAX_UINT256))


def _fund(sender: Sender, side: _Side, to: str, weth: str) -> None:
    """Mint the tokens, because a transfer fee would reduce them; WETH comes from the deployer's balance."""
    if side.token != weth:
        sender.call(side.token, "mint(address,uint256)", to, side.amount)
    elif to != sender.address:
        sender.call(weth, "transfer(address,uint256)", to, side.amount)
