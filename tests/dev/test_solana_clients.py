"""Ordinary clients use the local world's Solana node: they pay, transfer tokens, and send sweeps of the service.

Each runs once, as a Node.js program, which takes most of a second to load its library.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from solders.keypair import Keypair

from dev.node import node_folder
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import load_clusters
from tests.solana_sweeps import looked_at

CLIENTS = Path(__file__).parents[1] / "solana_clients"
PAID = 5_000_000  # lamports, in the clients
TRANSFERRED = "1234"  # in the client with spl-token

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A node whose users have tokens, with its swap API."""
    argv = [sys.executable, "-m", "tests.dev.solana_world", str(tmp_path_factory.mktemp("solana"))]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


@pytest.fixture
def world(started: dict[str, Any], change_networks: Callable[..., Networks]) -> dict[str, Any]:
    """The node that the service uses, as world.json describes it."""
    environment: dict[str, str] = started["environment"]
    change_networks(
        clusters=load_clusters(Path(environment["CLUSTERS_FILE"])),
        rpc_urls={"solana": [environment["RPC_URLS_SOLANA"]]},
        fee_wallet=environment["SOLANA_FEE_WALLET"],
        swap_api_url=environment["SWAP_API_URL"],
        swap_api_key=environment["SWAP_API_KEY"],
    )
    described: dict[str, Any] = started["described"]
    return described


def sweep_of(api: Client, world: dict[str, Any], user: dict[str, str], *symbols: str) -> dict[str, Any]:
    """Build a sweep of some of each token into USDC."""
    mints = world["mints"]
    body = {
        "wallet": user["address"],
        "tokens": [{"mint": mints[symbol]["mint"], "amount": "2000000"} for symbol in symbols],
        "outputMint": mints["USDC"]["mint"],
        "slippageBps": 100,
    }
    response = api.post("/v1/sweep/build", body, content_type="application/json")
    assert response.status_code == 201, response.content
    built: dict[str, Any] = response.json()["data"]
    return built


def run(client: str, world: dict[str, Any], user: dict[str, str], built: dict[str, Any]) -> dict[str, Any]:
    """Let a client do its part; returns what it saw."""
    task = {
        "rpcUrl": world["rpcUrl"],
        "wsUrl": world["wsUrl"],
        "secretKey": list(bytes(Keypair.from_base58_string(user["privateKey"]))),
        "transactions": built["transactions"],
    }
    argv = [str(node_folder() / "node"), str(CLIENTS / client)]
    done = subprocess.run(argv, input=json.dumps(task), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def assert_completed(api: Client, built: dict[str, Any], sent: list[str]) -> None:
    """The service finds and books the sweep, which consists of what was sent."""
    looked_at()
    sweep = api.get(f"/v1/sweep/status/{built['sweepId']}").json()["data"]
    assert sweep["status"] == "completed"
    assert [transaction["txHash"] for transaction in sweep["transactions"]] == sent
    assert sweep["fees"]["actualFees"]["grossOutput"] == built["estimatedOutput"]["gross"]


def test_web3_js_confirms_payments_transfers_of_tokens_and_a_sweep(api: Client, world: dict[str, Any]) -> None:
    user = world["users"][0]
    built = sweep_of(api, world, user, "USDT", "PYUSD")
    seen = run("web3.mjs", world, user, built)
    assert seen["payment"] == PAID
    assert seen["transfers"] == [[TRANSFERRED], [TRANSFERRED]]  # of SPL Token and of Token-2022
    assert_completed(api, built, seen["sweep"])


def test_kit_confirms_airdrops_payments_and_a_sweep(api: Client, world: dict[str, Any]) -> None:
    user = world["users"][1]
    built = sweep_of(api, world, user, "JUP", "PYUSD")
    seen = run("kit.mjs", world, user, built)
    assert seen["airdrop"] == seen["payment"] == PAID
    assert_completed(api, built, seen["sweep"])
