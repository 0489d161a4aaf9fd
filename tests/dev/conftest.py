"""The service and a wallet on the local chain, for programs that know them by their URLs only."""

from collections.abc import Iterator
from threading import Thread

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from dev import local_wallet
from dev.world import snippet_variables
from tests.local_chain import LocalChain


@pytest.fixture
def wallet_url(chain: LocalChain) -> Iterator[str]:
    """The wallet stand-in of the chain's users."""
    with local_wallet.create_server(local_wallet.of_world(chain.world), 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def snippets(chain: LocalChain, live_server: LiveServer, api_key: str, wallet_url: str) -> dict[str, str]:
    """The variables of this world, as `make dev` writes them."""
    return snippet_variables(chain.world, base_url=live_server.url, api_key=api_key, wallet_url=wallet_url)


@pytest.fixture
def sandbox_tokens(api: Client, chain: LocalChain) -> dict[str, str]:
    """The sandbox's tokens, which the user of ``snippets`` has: their addresses, by name in capitals."""
    body = {"chain": chain.world["chain"], "wallet": chain.users[0].address}
    assert api.post("/v2/sandbox/fund", body, content_type="application/json").status_code == 200
    (found,) = (one for one in api.get("/v2/sandbox").json()["data"]["chains"] if one["chain"] == body["chain"])
    return {token["name"].upper(): token["mint"] for token in found["tokens"]}
