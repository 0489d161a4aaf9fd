"""Pools that swap as Uniswap's do, to the unit: constant product (V2) and concentrated liquidity (V3).

Sources: Uniswap/v2-periphery ``UniswapV2Library.getAmountOut``; Uniswap/v3-core ``TickMath``, ``SqrtPriceMath``,
``SwapMath``, ``TickBitmap`` and ``UniswapV3Pool.swap``. ``tests/lab/route_quality/test_pools.py`` compares both kinds
with the contracts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

Q96 = 1 << 96
MAX_UINT256 = 2**256 - 1
MILLION = 1_000_000
TICK_SPACINGS = {100: 1, 500: 10, 3000: 60, 10_000: 200}
MAX_TICK = 887_272
# 2**128 / 1.0001**(2**i / 2), by the bit i of the tick.
_RATIOS = (
    0xFFFCB933BD6FAD37AA2D162D1A594001,
    0xFFF97272373D413259A46990580E213A,
    0xFFF2E50F5F656932EF12357CF3C7FDCC,
    0xFFE5CACA7E10E4E61C3624EAA0941CD0,
    0xFFCB9843D60F6159C9DB58835C926644,
    0xFF973B41FA98C081472E6896DFB254C0,
    0xFF2EA16466C96A3843EC78B326B52861,
    0xFE5DEE046A99A2A811C461F1969C3053,
    0xFCBE86C7900A88AEDCFFC83B479AA3A4,
    0xF987A7253AC413176F2B074CF7815E54,
    0xF3392B0822B70005940C7A398E4B70F3,
    0xE7159475A2C29B7443B29C7FA6E889D9,
    0xD097F3BDFD2022B8845AD8F792AA5825,
    0xA9F746462D870FDF8A65DC1F90E061E5,
    0x70D869A156D2A1B890BB3DF62BAF32F7,
    0x31BE135F97D08FD981231505542FCFA6,
    0x9AA508B5B7A84E1C677DE54F3E99BC9,
    0x5D6AF8DEDB81196699C329225EE604,
    0x2216E584F5FA1EA926041BEDFE98,
    0x48A170391F7DC42444E8FA2,
)


@dataclass(frozen=True)
class Fill:
    """What a swap gave, the pool as it left it, and how many initialized ticks it crossed."""

    output: int
    pool: "Pool"
    ticks: int = 0


@dataclass(frozen=True)
class V2Pool:
    """A pair of reserves; ``zero`` and ``one`` are the two tokens in the order of their addresses."""

    reserve_zero: int
    reserve_one: int
    fee_bps: int = 30

    def swap(self, amount: int, *, sells_zero: bool) -> Fill | None:
        """Swap an amount; None if the pool can't take it."""
        into, out = (self.reserve_zero, self.reserve_one) if sells_zero else (self.reserve_one, self.reserve_zero)
        after_fee = amount * (10_000 - self.fee_bps)
        output = after_fee * out // (into * 10_000 + after_fee)
        if amount <= 0 or output == 0 or into + amount >= 2**112:
            return None
        sold, bought = into + amount, out - output
        zero, one = (sold, bought) if sells_zero else (bought, sold)
        return Fill(output, V2Pool(zero, one, self.fee_bps))


@dataclass(frozen=True)
class V3Pool:
    """A price, the liquidity there, and what is added when the price rises above each tick."""

    fee: int
    sqrt_price: int
    tick: int
    liquidity: int
    net: Mapping[int, int]

    @classmethod
    def of(cls, fee: int, sqrt_price: int, positions: Mapping[tuple[int, int], int]) -> Self:
        """Return the pool with the liquidity of these ranges of ticks."""
        tick, net, active = tick_at(sqrt_price), dict[int, int](), 0
        for (lower, upper), liquidity in positions.items():
            net[lower] = net.get(lower, 0) + liquidity
            net[upper] = net.get(upper, 0) - liquidity
            active += liquidity if lower <= tick < upper else 0
        return cls(fee, sqrt_price, tick, active, {tick: change for tick, change in net.items() if change})

    def swap(self, amount: int, *, sells_zero: bool) -> Fill | None:
        """Swap an amount; None if the pool runs out of liquidity."""
        if amount <= 0:
            return None
        pool, left, output, ticks = self, amount, 0, 0
        while left:
            target, is_initialized = pool._next_tick(sells_zero=sells_zero)
            if abs(target) >= MAX_TICK:
                return None
            step = pool._step(left, sqrt_price_at(target))
            left, output = left - step.taken, output + step.output
            if step.sqrt_price != sqrt_price_at(target):
                pool = replace(pool, sqrt_price=step.sqrt_price, tick=tick_at(step.sqrt_price))
                break
            change = pool.net.get(target, 0) * (-1 if sells_zero else 1)
            ticks += is_initialized
            pool = replace(
                pool,
                sqrt_price=step.sqrt_price,
                tick=target - 1 if sells_zero else target,
                liquidity=pool.liquidity + change,
            )
        return Fill(output, pool, ticks) if output else None

    def _next_tick(self, *, sells_zero: bool) -> tuple[int, bool]:
        """Return the next initialized tick in the same word of the bitmap, or the end of that word."""
        spacing = TICK_SPACINGS[self.fee]
        position = self.tick // spacing
        if sells_zero:
            end = (position >> 8 << 8) * spacing
            found = [tick for tick in self.net if end <= tick <= position * spacing]
            return (max(found), True) if found else (end, False)
        position += 1
        end = ((position >> 8 << 8) + 255) * spacing
        found = [tick for tick in self.net if position * spacing <= tick <= end]
        return (min(found), True) if found else (end, False)

    def _step(self, left: int, target: int) -> "_Step":
        price, liquidity = self.sqrt_price, self.liquidity
        sells_zero = price >= target
        after_fee = left * (MILLION - self.fee) // MILLION
        needed = _zeros(target, price, liquidity, up=True) if sells_zero else _ones(price, target, liquidity, up=True)
        if after_fee >= needed:
            end, taken = target, needed + _up(needed * self.fee, MILLION - self.fee)
        else:
            end, taken = _price_after(price, liquidity, after_fee, sells_zero=sells_zero), left
            if end == target:
                swapped = (
                    _zeros(end, price, liquidity, up=True) if sells_zero else _ones(price, end, liquidity, up=True)
                )
                taken = swapped + _up(swapped * self.fee, MILLION - self.fee)
        output = _ones(end, price, liquidity, up=False) if sells_zero else _zeros(price, end, liquidity, up=False)
        return _Step(end, taken, output)


Pool = V2Pool | V3Pool


@dataclass(frozen=True)
class _Step:
    """The part of a swap up to a price; the input with its fee."""

    sqrt_price: int
    taken: int
    output: int


@cache
def sqrt_price_at(tick: int) -> int:
    """Return the square root of a tick's price as a fixed-point number."""
    ratio = 1 << 128
    for bit, factor in enumerate(_RATIOS):
        if abs(tick) >> bit & 1:
            ratio = ratio * factor >> 128
    if tick > 0:
        ratio = MAX_UINT256 // ratio
    return _up(ratio, 1 << 32)


def tick_at(sqrt_price: int) -> int:
    """Return the greatest tick whose price is not above this one."""
    low, high = -MAX_TICK, MAX_TICK
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sqrt_price_at(middle) <= sqrt_price else (low, middle - 1)
    return low


def _zeros(low: int, high: int, liquidity: int, *, up: bool) -> int:
    numerator = (liquidity << 96) * (high - low)
    return _up(_up(numerator, high), low) if up else numerator // high // low


def _ones(low: int, high: int, liquidity: int, *, up: bool) -> int:
    product = liquidity * (high - low)
    return _up(product, Q96) if up else product // Q96


def _price_after(price: int, liquidity: int, amount: int, *, sells_zero: bool) -> int:
    if not sells_zero:
        return price + (amount << 96) // liquidity
    numerator = liquidity << 96
    return _up(numerator * price, numerator + amount * price)


def _up(numerator: int, denominator: int) -> int:
    """Divide, and round up."""
    return -(-numerator // denominator)
