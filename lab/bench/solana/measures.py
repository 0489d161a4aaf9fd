"""What the swap API's free plan, 60 requests a minute, lets discoveries and builds of 30 tokens be quoted.

A local swap API with that limit answers for made-up tokens; the figures are of the client that the service has. Each
row has a window of its own.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from solders.hash import Hash
from solders.pubkey import Pubkey
from spl.token.constants import TOKEN_PROGRAM_ID

from dev.solana.swap_api.answers import build_answer
from dev.solana.swap_api.deal import Deal, Mint
from dev.solana.swap_api.limit import PlanLimit
from dev.solana.swap_api.orders import Order
from dev.solana.swap_api.server import LocalSwapApi, serving
from lab.bench.report import Section, Target
from sweepapi import networks
from sweepapi.solana.swap_api import QuoteRequest, RateLimitedError, SwapApi, SwapApiError, SwapApiQuote

TOKENS, PER_MINUTE = 30, 60
MOST_SECONDS, MOST_QUOTES = 10.0, 31
LATEST = {"blockhash": str(Hash.default()), "lastValidBlockHeight": 150}
MAKER, OUTPUT, FEE_ACCOUNT = (Pubkey.from_bytes(bytes([number] * 32)) for number in (1, 2, 3))


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Yield what to measure."""
    yield [builds, discovery_and_build, refused]


def builds() -> Section:
    """Build 30 tokens for each of three wallets at once, each in a process of its own: the window takes two of them."""
    with _swap_api() as (api, limit):
        started = time.monotonic()
        with ThreadPoolExecutor(3) as executor:
            answers = list(executor.map(lambda _: _quoted(_process(api), _wanted()), range(3)))
        seconds = time.monotonic() - started
    quoted = [sum(isinstance(one, SwapApiQuote) for one in build) for build in answers]
    rows = [{"builds": 3, "quoted": sum(quoted), "seconds": round(seconds, 2), "answered429": limit.refused}]
    targets = [
        Target("seconds until three builds of 30 are answered", round(seconds, 2), MOST_SECONDS),
        Target("tokens quoted of 90, of which the window allows 60", sum(quoted), PER_MINUTE, at_least=True),
        Target("requests beyond the limit", limit.refused, 0),
    ]
    return Section("Three builds at once", rows, targets)


def discovery_and_build() -> Section:
    """Discover 30 tokens in one process, and build them in another."""
    with _swap_api() as (api, limit):
        wanted = _wanted()
        found = _quoted(_process(api), wanted, for_build=False)
        built = _quoted(_process(api), wanted)
    quoted = [sum(isinstance(one, SwapApiQuote) for one in answers) for answers in (found, built)]
    rows = [{"discovered": quoted[0], "built": quoted[1], "quotes": limit.admitted, "answered429": limit.refused}]
    targets = [
        Target("quotes for a discovery and a build of 30", limit.admitted, MOST_QUOTES),
        Target("tokens built", quoted[1], TOKENS, at_least=True),
    ]
    return Section("A discovery, then a build", rows, targets)


def refused() -> Section:
    """Build once the window is used up, of which others used a third."""
    with _swap_api() as (api, limit):
        for _ in range(PER_MINUTE // 3):
            limit()
        _quoted(_process(api), _wanted())
        _quoted(_process(api), _wanted())
        started = time.monotonic()
        answers = _quoted(_process(api), _wanted())
        seconds = time.monotonic() - started
        resets_in = float(dict(limit().headers)["x-ratelimit-reset"]) - time.time()  # type: ignore[union-attr]
    retry_after = max(one.retry_after_seconds or 0 for one in answers if isinstance(one, RateLimitedError))
    rows = [{"seconds": round(seconds, 2), "retryAfter": retry_after, "resetsIn": round(resets_in, 1)}]
    targets = [
        Target("seconds until a build without a free place is refused", round(seconds, 2), MOST_SECONDS),
        Target("seconds between Retry-After and the reset", round(abs(retry_after - resets_in), 1), 2),
    ]
    return Section("A window that is used up", rows, targets)


@contextmanager
def _swap_api() -> Iterator[tuple[LocalSwapApi, PlanLimit]]:
    limit = PlanLimit(PER_MINUTE)
    with serving(LocalSwapApi(_build, admit=limit)) as api:
        yield api, limit


def _process(api: LocalSwapApi) -> SwapApi:
    """Return the client of another process."""
    here = replace(
        networks.current(), swap_api_url=api.url, swap_api_key=api.url, swap_api_requests_per_minute=PER_MINUTE
    )
    return here.swap_api


def _quoted(swap_api: SwapApi, wanted: Sequence[QuoteRequest], **options: bool) -> Sequence[Any]:
    try:
        return swap_api.quotes(wanted, **options)
    except SwapApiError as error:
        return [error] * len(wanted)


def _wanted() -> list[QuoteRequest]:
    """Return a new wallet's requests."""
    taker = str(Pubkey.new_unique())
    return [
        QuoteRequest(
            input_mint=str(Pubkey.new_unique()),
            output_mint=str(OUTPUT),
            amount=1_000_000,
            taker=taker,
            slippage_bps=100,
            platform_fee_bps=75,
            fee_account=str(FEE_ACCOUNT),
        )
        for _ in range(TOKENS)
    ]


def _build(order: Order) -> dict[str, Any]:
    sold, bought = (Mint(key, 6, TOKEN_PROGRAM_ID) for key in (order.input_mint, order.output_mint))
    deal = Deal(order=order, maker=MAKER, stash=MAKER, sold=sold, bought=bought, gross=order.amount * 2)
    return build_answer(deal, {}, LATEST, unit_price=0)
