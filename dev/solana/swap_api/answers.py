"""The JSON of an answer, with the fields that Jupiter's document names."""

import base64
import time
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from solders.compute_budget import set_compute_unit_price
from solders.hash import Hash
from solders.instruction import Instruction
from solders.pubkey import Pubkey

from dev.solana.swap_api.deal import Deal, Mint
from dev.solana.swap_api.orders import BPS

LABEL = "Local maker"
PRICE_IMPACT = "0.0012"


def build_answer(
    deal: Deal,
    tables: Mapping[Pubkey, Iterable[Pubkey]],
    latest_blockhash: Mapping[str, Any],
    *,
    unit_price: int,  # micro-lamports per compute unit
) -> dict[str, Any]:
    """Return the body of the 200 answer."""
    cleanup = deal.cleanup()
    return {
        **_amounts(deal),
        "otherAmountThreshold": str(deal.threshold),
        "swapMode": "ExactIn",
        "slippageBps": deal.order.slippage_bps,
        "priceImpactPct": PRICE_IMPACT,
        "routePlan": _steps(deal),
        "computeBudgetInstructions": [instruction(set_compute_unit_price(unit_price))],
        "setupInstructions": [instruction(each) for each in deal.setup()],
        "swapInstruction": instruction(deal.swap()),
        "cleanupInstruction": instruction(cleanup) if cleanup else None,
        "otherInstructions": [instruction(each) for each in deal.other()],
        "tipInstruction": None,
        "addressesByLookupTableAddress": {str(table): [str(key) for key in keys] for table, keys in tables.items()},
        "blockhashWithMetadata": _blockhash(latest_blockhash),
    }


def instruction(content: Instruction) -> dict[str, Any]:
    return {
        "programId": str(content.program_id),
        "accounts": [
            {"pubkey": str(account.pubkey), "isWritable": account.is_writable, "isSigner": account.is_signer}
            for account in content.accounts
        ],
        "data": base64.b64encode(content.data).decode(),
    }


def _amounts(deal: Deal) -> dict[str, str]:
    return {
        "inputMint": str(deal.sold.key),
        "outputMint": str(deal.bought.key),
        "inAmount": str(deal.order.amount),
        "outAmount": str(deal.net),
    }


def _steps(deal: Deal) -> list[dict[str, Any]]:
    """Return the steps of the route, each of everything that the one before it bought."""
    between = [] if deal.between is None else [(deal.between.mint, deal.between.amount)]
    held = [(deal.sold, deal.order.amount), *between, (deal.bought, deal.gross)]
    return [_step(deal.maker, sold, bought) for sold, bought in pairwise(held)]


def _step(maker: Pubkey, sold: tuple[Mint, int], bought: tuple[Mint, int]) -> dict[str, Any]:
    swap = {
        "ammKey": str(maker),
        "label": LABEL,
        "inputMint": str(sold[0].key),
        "outputMint": str(bought[0].key),
        "inAmount": str(sold[1]),
        "outAmount": str(bought[1]),
    }
    return {"swapInfo": swap, "percent": 100, "bps": BPS}


def _blockhash(latest: Mapping[str, Any]) -> dict[str, Any]:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return {
        "blockhash": list(bytes(Hash.from_string(latest["blockhash"]))),
        "lastValidBlockHeight": latest["lastValidBlockHeight"],
        "fetchedAt": {"secs_since_epoch": seconds, "nanos_since_epoch": nanoseconds},
    }
