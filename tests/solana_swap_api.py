"""The local swap API for tests; every request to it and every answer that a test did not change must be documented."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from solders.pubkey import Pubkey
from spl.token.constants import NATIVE_DECIMALS, WRAPPED_SOL_MINT

from dev.chain.rpc import Rpc
from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.swap_api.maker import Maker, Price
from dev.solana.swap_api.orders import Order
from dev.solana.swap_api.server import LocalSwapApi, Request, Response, serving
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.solana.swap_api import SwapApi
from sweepapi.solana.swap_api.memory import Memory
from sweepapi.solana.swap_api.pace import Pace
from tests.solana_cluster import USDC_DECIMALS, SolanaCluster
from tests.swap_document import answer_problems, request_problems

KEY = "key-of-the-swap-api"
STOCK = 10**15
MICRO = 10**6


@contextmanager
def serving_documented(build: Callable[[Order], dict[str, Any]], **tokens: Any) -> Iterator[LocalSwapApi]:
    """Serve a swap API; fails at the end if a request, or an answer that a test did not change, is undocumented."""
    problems: list[str] = []

    def observe(request: Request, response: Response | None) -> None:
        problems.extend(request_problems(request.path, request.query, request.headers))
        if response is not None:
            problems.extend(answer_problems(response.status, response.body, path=request.path))

    with serving(LocalSwapApi(build, observe=observe, **tokens)) as api:
        yield api
    assert problems == []


def client_at(  # noqa: PLR0913 what tests change of a client
    url: str,
    key: str = KEY,
    *,
    timeout_seconds: float = 5,
    per_minute: int = 10_000,
    redis_url: str = "",
    shared_as: str = "",
) -> SwapApi:
    """Return a new client; those that are shared under a name have one window and memory.

    Without Redis each has the window to itself.
    """
    redis, prefix = SharedRedis(redis_url or settings.REDIS_URL, timeout_seconds=5), f"test:{shared_as or uuid4()}"
    pace = Pace(redis, f"{prefix}:window", per_minute=per_minute, share=per_minute)
    return SwapApi(url, key, timeout_seconds, pace=pace, memory=Memory(redis, prefix))


@dataclass(frozen=True)
class SwapMarket:
    """A swap API, and the tokens that its maker trades. Its answers are changed with `alter`, `replace` and `hung`."""

    api: LocalSwapApi
    maker: Maker
    cluster: SolanaCluster
    prices: dict[Pubkey, Price]
    lookup_tables: list[Pubkey]
    verified: set[Pubkey]

    def create_token(
        self, *, decimals: int = 6, micro_usd: int = MICRO, through: Pubkey | None = None, **mint: Any
    ) -> Pubkey:
        """Create a mint whose tokens the maker buys at this price, directly or through another token."""
        created = self.cluster.faucet.create_mint(decimals, **mint)
        self.prices[created] = Price(decimals, micro_usd, through)
        return created

    def add_lookup_table(self) -> Pubkey:
        """Create a lookup table of the mints and of the maker's accounts, which later answers name."""
        faucet = self.cluster.faucet
        accounts = [faucet.associated_account(self.maker.key, mint) for mint in self.prices]
        self.lookup_tables.append(faucet.create_lookup_table([*self.prices, *accounts]))
        return self.lookup_tables[-1]


@contextmanager
def running(cluster: SolanaCluster) -> Iterator[SwapMarket]:
    """Run a swap API that sells the tokens in which sweeps can end."""
    keypair = cluster.create_wallet(1_000 * LAMPORTS_PER_SOL)
    prices = {
        cluster.usdc: Price(USDC_DECIMALS, MICRO),
        WRAPPED_SOL_MINT: Price(NATIVE_DECIMALS, 150 * MICRO),
    }
    for mint in prices:
        cluster.faucet.give_tokens(keypair.pubkey(), mint, STOCK)
    lookup_tables: list[Pubkey] = []
    maker = Maker(rpc=Rpc(cluster.url), keypair=keypair, prices=prices, lookup_tables=lookup_tables)
    verified = set(prices)
    with serving_documented(maker.build, listed=lambda: map(str, verified), dollars=maker.dollars) as api:
        yield SwapMarket(api, maker, cluster, prices, lookup_tables, verified)
