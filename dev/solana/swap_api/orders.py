"""Reads the query of ``GET /build``."""

from collections.abc import Mapping
from dataclasses import dataclass

from solders.pubkey import Pubkey

BPS = 10_000
MOST_ACCOUNTS = 64


class RefusedError(Exception):
    """The swap API answers 400 with this reason."""


PERCENTILES = {"medium": 25, "high": 50, "veryHigh": 75}


@dataclass(frozen=True)
class Order:
    """What a taker wants to swap; amounts are in the token's smallest unit."""

    input_mint: Pubkey
    output_mint: Pubkey
    amount: int
    taker: Pubkey
    slippage_bps: int = 50
    platform_fee_bps: int = 0
    fee_account: Pubkey | None = None  # None without a platform fee
    wraps_sol: bool = True  # and unwraps it
    max_accounts: int = MOST_ACCOUNTS  # of the route
    price_percentile: int = PERCENTILES["high"]  # of the prices of compute units in recent blocks


def order_of(query: Mapping[str, str]) -> Order:
    """Return the order; raises ``RefusedError``."""
    try:
        order = Order(
            input_mint=Pubkey.from_string(query["inputMint"]),
            output_mint=Pubkey.from_string(query["outputMint"]),
            amount=int(query["amount"]),
            taker=Pubkey.from_string(query["taker"]),
            slippage_bps=int(query.get("slippageBps", 50)),
            platform_fee_bps=int(query.get("platformFeeBps", 0)),
            fee_account=Pubkey.from_string(query["feeAccount"]) if "feeAccount" in query else None,
            wraps_sol=query.get("wrapAndUnwrapSol", "true") == "true",
            max_accounts=int(query.get("maxAccounts", MOST_ACCOUNTS)),
            price_percentile=_percentile(query.get("computeUnitPricePercentile", "high")),
        )
    except KeyError as error:
        raise RefusedError(f"{error.args[0]} is missing") from error
    except ValueError as error:
        raise RefusedError("Invalid query parameters") from error
    _check(order)
    return order


def _percentile(text: str) -> int:
    """Return the percentile that is named, or given in basis points."""
    return PERCENTILES[text] if text in PERCENTILES else int(text) * 100 // BPS


def _check(order: Order) -> None:
    if order.input_mint == order.output_mint:
        raise RefusedError("inputMint and outputMint must differ")
    if not 0 < order.amount < 2**64:
        raise RefusedError("Invalid amount")
    if not (0 <= order.slippage_bps <= BPS and 0 <= order.platform_fee_bps <= BPS):
        raise RefusedError("Basis points must be between 0 and 10000")
    if not 1 <= order.max_accounts <= MOST_ACCOUNTS:
        raise RefusedError(f"maxAccounts must be between 1 and {MOST_ACCOUNTS}")
    if not 0 <= order.price_percentile * 100 <= BPS:
        raise RefusedError("computeUnitPricePercentile must be between 0 and 10000")
    if order.platform_fee_bps and order.fee_account is None:
        raise RefusedError("feeAccount is required with a platform fee")
