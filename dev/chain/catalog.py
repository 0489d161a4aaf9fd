"""The market of the local chain: its tokens, their prices, and the pools that trade them.

The pools cover every kind of route: tokens with V2 pools only, tokens with V2 and V3 pools at different prices, stable
coins with a direct pool, and tokens that only trade against the wrapped coin. A route uses one router, so every token
has a V2 pool with the wrapped coin: any token can be swept into any other.
"""

from dataclasses import dataclass
from fractions import Fraction

WRAPPED_DECIMALS = 18
WRAPPED_PRICE_USD = Fraction(2500)
# The value of each side of a pool: three units of the most expensive token (180,000 USD of WBTC) then move the price
# of a full-range pool by 0.036 %.
POOL_SIDE_USD = Fraction(1_000_000_000)


@dataclass(frozen=True)
class Token:
    """An ERC-20 of the local chain."""

    symbol: str
    name: str
    decimals: int
    price_usd: Fraction
    contract: str = "MintableToken"


@dataclass(frozen=True)
class Pool:
    """A pool of two tokens, by symbol; `fee` is in hundredths of a basis point, None for Uniswap V2 (0.3 %)."""

    token: str
    other: str
    fee: int | None
    premium_bps: int = 0  # of the pool's price of `token` over the catalog's


TOKENS = (
    Token("USDC", "USD Coin", 6, Fraction(1), "PermitToken"),
    Token("USDT", "Tether USD", 6, Fraction(1), "NoReturnToken"),
    Token("DAI", "Dai Stablecoin", 18, Fraction(1), "DaiPermitToken"),
    Token("GUSD", "Gemini dollar", 2, Fraction(1)),
    Token("WBTC", "Wrapped BTC", 8, Fraction(60_000)),
    Token("LINK", "ChainLink Token", 18, Fraction(15)),
    Token("UNI", "Uniswap", 18, Fraction(8), "PermitToken"),
    Token("TFEE", "Transfer Fee Token", 18, Fraction(2), "TransferFeeToken"),
)
POOLS = (
    Pool("USDC", "WETH", 500),
    Pool("USDC", "WETH", 3000, premium_bps=40),
    Pool("USDC", "WETH", None, premium_bps=-30),
    Pool("USDT", "WETH", 500, premium_bps=-10),
    Pool("USDT", "WETH", None, premium_bps=-40),
    Pool("USDT", "USDC", 100),
    Pool("DAI", "USDC", 100),
    Pool("DAI", "WETH", None),
    Pool("GUSD", "WETH", None),
    Pool("WBTC", "WETH", 3000),
    Pool("WBTC", "WETH", None, premium_bps=-25),
    Pool("LINK", "WETH", 3000),
    Pool("LINK", "WETH", None, premium_bps=60),
    Pool("UNI", "WETH", 10_000),
    Pool("UNI", "WETH", None, premium_bps=80),
    Pool("TFEE", "WETH", None),
)
