"""A swap API without a cluster: it builds the answers of a maker that never puts anything aside."""

from typing import Any

import pytest
from solders.hash import Hash
from solders.pubkey import Pubkey
from spl.token.constants import TOKEN_PROGRAM_ID

from dev.solana.swap_api.answers import build_answer
from dev.solana.swap_api.deal import Deal, Mint
from dev.solana.swap_api.orders import Order
from dev.solana.swap_api.server import LocalSwapApi
from sweepapi.solana.swap_api import QuoteRequest, SwapApi, SwapApiError, SwapApiQuote
from tests.solana_swap_api import client_at

SOLD, BOUGHT, TAKER, FEE_ACCOUNT, MAKER, TABLE = (Pubkey.from_bytes(bytes([number] * 32)) for number in range(1, 7))
LATEST = {"blockhash": str(Hash.default()), "lastValidBlockHeight": 150}
REQUEST = QuoteRequest(
    input_mint=str(SOLD),
    output_mint=str(BOUGHT),
    amount=1_000_000,
    taker=str(TAKER),
    slippage_bps=50,
    platform_fee_bps=75,
    fee_account=str(FEE_ACCOUNT),
)
UNIT_PRICE = 1_000


def deal_of(order: Order) -> Deal:
    sold, bought = (Mint(key, 6, TOKEN_PROGRAM_ID) for key in (order.input_mint, order.output_mint))
    return Deal(order=order, maker=MAKER, stash=MAKER, sold=sold, bought=bought, gross=order.amount * 2)


def build(order: Order) -> dict[str, Any]:
    return build_answer(deal_of(order), {TABLE: [MAKER]}, LATEST, unit_price=UNIT_PRICE)


def client_of(api: LocalSwapApi, **options: Any) -> SwapApi:
    return client_at(api.url, **options)


def quote_of(api: LocalSwapApi, request: QuoteRequest = REQUEST) -> SwapApiQuote:
    (quote,) = client_of(api).quotes([request])
    assert isinstance(quote, SwapApiQuote)
    return quote


def refusal(api: LocalSwapApi, *, timeout_seconds: float = 5) -> SwapApiError:
    with pytest.raises(SwapApiError) as raised:
        client_of(api, timeout_seconds=timeout_seconds).quotes([REQUEST])
    return raised.value
