"""The TypeScript client passes its own tests against the service, as a partner's server and page would use it."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from dev.node import node_folder
from tests.solana_user import DOLLAR, SolanaUser

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"

pytestmark = pytest.mark.django_db(transaction=True)


def run(tests: list[Path], variables: Mapping[str, str]) -> None:
    """Run tests one after the other, because they share the wallet."""
    node = node_folder() / "node"
    ran = subprocess.run(
        [node, "--test", "--test-concurrency=1", "--test-reporter=spec", *tests],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_its_stories_end_as_they_say(snippets: dict[str, str]) -> None:
    run(sorted(CLIENT.glob("test/*.test.ts")), snippets)


@pytest.mark.usefixtures("checked")
def test_its_story_on_solana_ends_as_it_says(user: SolanaUser, live_server: LiveServer, api_key: str) -> None:
    token = user.hold(50 * DOLLAR)
    variables = {
        "BASE_URL": live_server.url,
        "API_KEY": api_key,
        **dict.fromkeys(("CHAIN", "WALLET", "OUTPUT_TOKEN"), ""),
        "WALLET_URL": "http://127.0.0.1:1",
        "SOLANA_WALLET": str(user.key),
        "SOLANA_SEED": bytes(user.keypair)[:32].hex(),
        "SOLANA_RPC_URL": user.cluster.url,
        "SOLANA_TOKEN": str(token),
        "SOLANA_OUTPUT": str(user.cluster.usdc),
    }
    run([CLIENT / "test" / "solana.story.ts"], variables)
