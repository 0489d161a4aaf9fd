"""The market of the local chain: which tokens there are, what they are worth, and which pools trade them.

Every kind of route occurs: tokens with V2 pools only, with both versions at different prices, stable coins with a
direct pool to another stable, and tokens that reach anything else only through the wrapped coin. A route stays within
one router, so every token has a V2 pool with the wrapped coin: any token can be swept into any other.
"""

from dataclasses import dataclass
from fractions import Fraction

WRAPPED_DECIMALS = 18
WRAPPED_PRICE_USD = Fraction(2500)
# What lies on each side of a pool. Three units of the dearest token (180,000 USD of WBTC) then move the price of a
# full-range pool by 0.036 %.
POOL_SIDE_USD = Fraction(1_000_000_000)


@dataclass(frozen=True)
class Token:
    """An ERC-20 that we deploy."""

    symbol: str
    name: str
    decimals: int
    price_usd: Fraction
    contract: str = "MintableToken"

    @property
    def plain(self) -> bool:
        """Whether what arrives is what was sent, so that the service may list it as vetted."""
        return self.contract != "TransferFeeToken"


@dataclass(frozen=True)
class Pool:
    """A pool of two tokens, by symbol; `fee` in hundredths of a basis point, None for Uniswap V2 (0.3 %)."""

    token: str
    other: str
    fee: int | None
    dearer_bps: int = 0  # how far above the catalog's price `token` trades here


TOKENS = (
    Token("USDC", "USD Coin", 6, Fraction(1)),
    Token("USDT", "Tether USD", 6, Fraction(1), "NoReturnToken"),
    Token("DAI", "Dai Stablecoin", 18, Fraction(1)),
    Token("GUSD", "Gemini dollar", 2, Fraction(1)),
    Token("WBTC", "Wrapped BTC", 8, Fraction(60_000)),
    Token("LINK", "ChainLink Token", 18, Fraction(15)),
    Token("UNI", "Uniswap", 18, Fraction(8)),
    Token("TFEE", "Transfer Fee Token", 18, Fraction(2), "TransferFeeToken"),
)
POOLS = (
    Pool("USDC", "WETH", 500),
    Pool("USDC", "WETH", 3000, dearer_bps=40),
    Pool("USDC", "WETH", None, dearer_bps=-30),
    Pool("USDT", "WETH", 500, dearer_bps=-10),
    Pool("USDT", "WETH", None, dearer_bps=-40),
    Pool("USDT", "USDC", 100),
    Pool("DAI", "USDC", 100),
    Pool("DAI", "WETH", None),
    Pool("GUSD", "WETH", None),
    Pool("WBTC", "WETH", 3000),
    Pool("WBTC", "WETH", None, dearer_bps=-25),
    Pool("LINK", "WETH", 3000),
    Pool("LINK", "WETH", None, dearer_bps=60),
    Pool("UNI", "WETH", 10_000),
    Pool("UNI", "WETH", None, dearer_bps=80),
    Pool("TFEE", "WETH", None),
)
