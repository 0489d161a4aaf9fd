"""The outside probe says what is wrong, and calls the heartbeat only if nothing is."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from sweepapi.rpc import ProviderPool
from tests.local_chain import LocalChain
from tests.webhook_receiver import Receiver, running

PROBE: Path = settings.BASE_DIR / "ops" / "probe.py"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cluster", "unmeasured")]


def probe(url: str, heart: Receiver) -> tuple[int, str]:
    argv = [sys.executable, str(PROBE), url, "--heartbeat", heart.url]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout.strip()


def test_the_heartbeat_is_called_if_all_is_well(live_server: LiveServer, chain: LocalChain) -> None:
    assert chain.contracts
    with running() as heart:
        assert probe(live_server.url, heart) == (0, "")
    assert len(heart.received) == 1


def test_a_chain_that_is_unavailable_is_named_and_no_heartbeat_called(
    live_server: LiveServer, use_providers: Callable[..., ProviderPool]
) -> None:
    use_providers("http://127.0.0.1:1")
    with running() as heart:
        status, said = probe(live_server.url, heart)
    assert (status, said) == (1, "/v2/status: local is unavailable")
    assert heart.received == []


def test_a_service_that_does_not_answer_is_a_problem() -> None:
    with running() as heart:
        status, said = probe("http://127.0.0.1:1", heart)
    assert status == 1
    assert said.startswith("/v2/status: URLError")
    assert heart.received == []
