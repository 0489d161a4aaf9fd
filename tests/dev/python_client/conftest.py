"""Both clients by one interface, so that each test holds for the blocking and the awaited one; and the world around."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from dev.wallets import Wallet
from sweepapi_client import AsyncSweepClient, SweepClient
from tests.local_chain import LocalChain

Item = TypeVar("Item")


@dataclass(frozen=True)
class Kind:
    """How one of the clients is made, and how its answers and pages are waited for."""

    create: Callable[..., Any]
    wait: Callable[[Any], Any]
    items: Callable[[Any], list[Any]]


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Iterator[Kind]:
    """Run the test once with each client."""
    clients: list[Any] = []

    def creating(client_type: Callable[..., Any]) -> Callable[..., Any]:
        def create(base_url: str = "https://api.example.com", api_key: str = "swp_test_secret", **options: Any) -> Any:
            clients.append(client_type(base_url, api_key, **options))
            return clients[-1]

        return create

    if request.param == "sync":
        yield Kind(creating(SweepClient), wait=lambda answer: answer, items=list)
        for client in clients:
            client.close()
        return
    with asyncio.Runner() as runner:
        yield Kind(
            creating(AsyncSweepClient),
            wait=lambda answer: runner.run(awaited(answer)),
            items=lambda pages: runner.run(collected(pages)),
        )
        for client in clients:
            runner.run(client.aclose())


async def awaited(answer: Awaitable[Item]) -> Item:
    return await answer


async def collected(pages: AsyncIterator[Item]) -> list[Item]:
    return [item async for item in pages]


@dataclass(frozen=True)
class World:
    """A partner's view of the local world: the variables of the quickstarts, and a user's wallet."""

    variables: dict[str, str]
    wallet: Wallet

    @property
    def access(self) -> tuple[str, str]:
        """The URL of the API and a key."""
        return self.variables["BASE_URL"], self.variables["API_KEY"]

    @property
    def wanted(self) -> dict[str, str]:
        """The fields that discover, quote and build have in common."""
        return {
            "chain": self.variables["CHAIN"],
            "wallet": self.variables["WALLET"],
            "outputMint": self.variables["OUTPUT_TOKEN"],
        }


@pytest.fixture
def world(snippets: dict[str, str], chain: LocalChain) -> World:
    """The service and the local chain."""
    return World(snippets, Wallet(chain.node, snippets["WALLET_KEY"]))
