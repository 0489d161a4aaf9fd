"""Answers with the list of verified tokens and with prices, as Jupiter's token and price interfaces do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dev.solana.swap_api.orders import RefusedError

TAG_PATH, PRICE_PATH = "/tokens/v2/tag", "/price/v3"
MOST_PRICES = 50
CREATED_AT = "2024-06-05T08:55:25.527Z"
LIQUIDITY = 1_000_000.5  # of every token, in dollars
TAGS = ("lst", "verified", "stocks")


def verified(query: Mapping[str, str], mints: Iterable[str]) -> list[dict[str, Any]]:
    """Return the tokens with a tag, of which all have the same one; raises ``RefusedError``."""
    if query.get("query") not in TAGS:
        raise RefusedError("query must be one of lst, verified, stocks")
    if query["query"] != "verified":
        return []
    return [{"id": mint, "isVerified": True, "tags": ["verified"], "liquidity": LIQUIDITY} for mint in mints]


def priced(query: Mapping[str, str], dollars: Callable[[str], tuple[float, int] | None]) -> dict[str, Any]:
    """Return the prices of the mints that have one; raises ``RefusedError``."""
    mints = [mint for mint in query.get("ids", "").split(",") if mint]
    if not 0 < len(mints) <= MOST_PRICES:
        raise RefusedError(f"ids must have 1 to {MOST_PRICES} mints")
    return {mint: _price(*found) for mint in mints if (found := dollars(mint)) is not None}


def _price(dollars: float, decimals: int) -> dict[str, Any]:
    return {
        "createdAt": CREATED_AT,
        "liquidity": LIQUIDITY,
        "usdPrice": dollars,
        "blockId": 348_004_023,
        "decimals": decimals,
        "priceChange24h": -0.003,
    }
