"""Random markets: a basket of tokens, each with several pools at different prices, and the pools that they share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp, isqrt, log
from random import Random

from eth_utils.address import to_checksum_address

from lab.route_quality.pools import MAX_TICK, TICK_SPACINGS, Fill, Pool, V2Pool, V3Pool, tick_at
from sweepapi.evm.chain.chains import Chain, FinalityRule, Router, SaltRule, Venue
from sweepapi.evm.chain.fee_models.plain import PlainFees
from sweepapi.evm.pools.venues import pool_address

V3_TIERS = (500, 3000, 10_000)
COIN_USD = 2_500.0
LEAST_POOLS, MOST_POOLS = 3, 6
FULL_RANGE = {fee: MAX_TICK // spacing * spacing for fee, spacing in TICK_SPACINGS.items()}


def _address(number: int) -> str:
    return to_checksum_address(f"0x{number:040x}")


WRAPPED, CONNECTOR, DOLLAR, PERMIT2, MULTICALL, WALLET, CONTRACT = (_address(0xAA00 + i) for i in range(7))
FACTORIES = {"uniswap_v3": _address(0xFAC3), "uniswap_v2": _address(0xFAC2)}
QUOTERS = {"uniswap_v3": _address(0x403), "uniswap_v2": _address(0x402)}
_VENUES = (
    ("uniswap_v3", 1, SaltRule.PAIR_AND_FEE, 0, V3_TIERS),
    ("uniswap_v2", 2, SaltRule.PACKED_PAIR, 30, ()),
)
CHAIN = Chain(
    name="model",
    sandbox=True,
    sandbox_tokens={},
    chain_id=1,
    genesis_hash=None,
    native_symbol="ETH",
    wrapped_native=WRAPPED,
    reference_token=DOLLAR,
    tokens={},
    holdings_sources=(),
    connectors=(CONNECTOR,),
    fee_model=PlainFees(),
    permit2=PERMIT2,
    multicall3=MULTICALL,
    block_explorer_url="",
    protocol_recipient=None,
    v4_fee_bps=None,
    payout_senders=(),
    role_holders={},
    change_signers=(),
    v5_contract=CONTRACT,
    v4_contract=None,
    access_manager=None,
    deployed_at_block=None,
    previous_fee_signer=None,
    finality=FinalityRule("safe", "finalized", 30, None),
    venues=tuple(
        Venue(
            kind,
            number,
            kind,
            FACTORIES[kind],
            FACTORIES[kind],
            rule,
            fee,
            bytes(4),
            "0x" + "12" * 32,
            QUOTERS[kind],
            tiers,
        )
        for kind, number, rule, fee, tiers in _VENUES
    ),
    routers=tuple(
        Router(kind, kind, _address(0x500 + number), FACTORIES[kind], QUOTERS[kind], tiers)
        for kind, number, _, _, tiers in _VENUES
    ),
)


@dataclass(frozen=True)
class Place:
    """Where a pool is: its venue, its two tokens in order, and its fee tier."""

    venue: Venue
    pair: tuple[str, str]
    fee_tier: int | None

    @classmethod
    def of(cls, venue: Venue, tokens: tuple[str, str], fee_tier: int | None) -> "Place":
        zero, one = sorted(tokens, key=lambda token: int(token, 16))
        return cls(venue, (zero, one), fee_tier)

    def other(self, token: str) -> str:
        """Return the token that it trades for this one."""
        return self.pair[0] if token == self.pair[1] else self.pair[1]

    @property
    def address(self) -> str:
        """The address of the pool."""
        return pool_address(self.venue, *self.pair, self.fee_tier or 0)

    def swap(self, pool: Pool, token_in: str, amount: int) -> Fill | None:
        """Swap an amount of one of its tokens in the pool that is here."""
        return pool.swap(amount, sells_zero=token_in == self.pair[0])


@dataclass(frozen=True)
class Market:
    """A basket and all pools that its tokens can be swapped in."""

    output: str
    amounts: Mapping[str, int]  # by swept token
    decimals: Mapping[str, int]
    pools: Mapping[Place, Pool]
    gas_cost: float  # of a unit of gas, in the output
    gas_price: int  # wei
    misleads: bool  # whether the deepest pool of each token is at a bad price


def random_market(seed: int) -> Market:
    """Return the market of a seed; in a third of them, the deepest pool of every token is the wrong one."""
    random = Random(seed)  # noqa: S311 - no secret
    misleads = seed % 3 == 0
    swept = [_address(0x1000 + 977 * i + random.randrange(2**100)) for i in range(random.randint(2, 5))]
    output = random.choice([_address(0x2000 + random.randrange(2**100)), DOLLAR])
    prices = {WRAPPED: COIN_USD, CONNECTOR: 1.0, DOLLAR: 1.0}
    prices |= {token: exp(random.uniform(log(0.01), log(5_000))) for token in (*swept, output) if token not in prices}
    decimals = {token: random.choice([6, 18]) for token in prices} | {WRAPPED: 18, CONNECTOR: 6, DOLLAR: 6}
    units = {token: 10 ** decimals[token] / prices[token] for token in prices}  # for one dollar
    pools: dict[Place, Pool] = {}
    for token in swept:
        pools |= dict(_pools_of(token, output, units, random, misleads=misleads))
    for middle in dict.fromkeys((WRAPPED, CONNECTOR, DOLLAR, output)):
        pools |= dict(_shared(middle, output, units, random))
    gas_price = int(exp(random.uniform(log(10**7), log(2 * 10**10))))
    values = {token: exp(random.uniform(log(20), log(20_000))) for token in swept}
    return Market(
        output=output,
        amounts={token: int(value * units[token]) for token, value in values.items()},
        decimals=decimals,
        pools=pools,
        gas_cost=gas_price * COIN_USD / 10**18 * units[output],
        gas_price=gas_price,
        misleads=misleads,
    )


def _pools_of(
    token: str, output: str, units: Mapping[str, float], random: Random, *, misleads: bool
) -> Iterator[tuple[Place, Pool]]:
    """Yield the pools of a token, on both venues."""
    by_venue = [list(_places(token, output, venue)) for venue in CHAIN.venues]
    places = [random.choice(group) for group in by_venue]
    rest = [place for group in by_venue for place in group if place not in places]
    places += random.sample(rest, random.randint(LEAST_POOLS - len(places), MOST_POOLS - len(places)))
    sides = {place: exp(random.uniform(log(3e4), log(2e7))) for place in places}
    deepest = max(places, key=lambda place: sides[place])
    for place, side in sides.items():
        premium = random.uniform(-0.005, 0.005)
        if misleads and place == deepest:
            premium = -random.uniform(0.02, 0.1)
        reserves = _reserves(place, token, side_usd=side, premium=premium, units=units)
        yield place, _pool(place, reserves, random)


def _places(token: str, output: str, venue: Venue) -> Iterator[Place]:
    for other in dict.fromkeys((output, WRAPPED, CONNECTOR)):
        for fee_tier in venue.fee_tiers or (None,):
            yield Place.of(venue, (token, other), fee_tier)


def _shared(middle: str, output: str, units: Mapping[str, float], random: Random) -> Iterator[tuple[Place, Pool]]:
    """Yield pools of the wrapped coin, or of a connector, with the output."""
    other = output if middle != output else WRAPPED
    if middle == other or {middle, other} == {DOLLAR, CONNECTOR} - {output}:
        return
    for venue in CHAIN.venues:
        for fee_tier in random.sample(venue.fee_tiers, 2) if venue.fee_tiers else (None,):
            place = Place.of(venue, (middle, other), fee_tier)
            side = exp(random.uniform(log(3e5), log(1e8)))
            premium = random.uniform(-0.003, 0.003)
            reserves = _reserves(place, middle, side_usd=side, premium=premium, units=units)
            yield place, _pool(place, reserves, random)


def _reserves(
    place: Place, token: str, *, side_usd: float, premium: float, units: Mapping[str, float]
) -> tuple[int, int]:
    """Return what a pool holds with this value on each side, where the token is more expensive by a premium."""
    amounts = {each: side_usd * units[each] for each in place.pair}
    amounts[token] /= 1 + premium
    return int(amounts[place.pair[0]]) + 1, int(amounts[place.pair[1]]) + 1


def _pool(place: Place, reserves: tuple[int, int], random: Random) -> Pool:
    """Return a pool of these reserves over the whole range, and of V3 often with more around the price."""
    low, high = reserves
    if place.fee_tier is None:
        return V2Pool(low, high)
    liquidity, sqrt_price = isqrt(low * high), isqrt((high << 192) // low)
    spacing, edge = TICK_SPACINGS[place.fee_tier], FULL_RANGE[place.fee_tier]
    positions = {(-edge, edge): liquidity}
    middle = tick_at(sqrt_price) // spacing * spacing
    for _ in range(random.choice([0, 1, 3])):
        width = random.choice([1, 4, 20, 60]) * max(spacing, 60)
        shift = random.randint(-2, 2) * max(spacing, 60)
        key = (middle + shift - width // spacing * spacing, middle + shift + (width // spacing + 1) * spacing)
        positions[key] = liquidity * random.randint(1, 8)
    return V3Pool.of(place.fee_tier, sqrt_price, positions)
