"""The example back end keeps the key: a page without it builds, reads and nothing more."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from pytest_django.live_server_helper import LiveServer

from dev.ports import free_port
from dev.processes.waiting import wait_until
from partners.models import Partner
from tests.factories.sweeps import SweepFactory

pytestmark = pytest.mark.django_db(transaction=True)

PROXY = Path(__file__).parents[2] / "examples" / "backend_proxy.py"
SECONDS = 30


@pytest.fixture
def proxy(live_server: LiveServer, api_key: str) -> Iterator[str]:
    """The URL of the example, which calls the service with the partner's key."""
    port = free_port()
    environment = {**os.environ, "SWEEP_API_URL": live_server.url, "SWEEP_API_KEY": api_key}
    with subprocess.Popen([sys.executable, str(PROXY), str(port)], env=environment) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: answers(url), within_seconds=SECONDS, what="the proxy to listen")
            yield url
        finally:
            process.terminate()


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=SECONDS).status_code > 0
    except requests.ConnectionError:
        return False


def test_a_page_without_a_key_reads_a_sweep(proxy: str, partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner)
    response = requests.get(f"{proxy}/v2/sweep/status/{sweep.id}", headers={"X-Request-Id": "page-1"}, timeout=SECONDS)
    assert (response.status_code, response.json()["data"]["sweepId"]) == (200, str(sweep.id))
    assert response.headers["X-Request-Id"] == "page-1"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_a_refusal_reaches_the_page_in_the_envelope(proxy: str) -> None:
    response = requests.post(f"{proxy}/v2/sweep/build", json={"chain": "local"}, timeout=SECONDS)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v2/partner"),
        ("GET", "/v2/ledger/entries"),
        ("GET", "/v2/sweep/history"),
        ("POST", "/v2/sweep/status/019bb286-3ae0-7b00-811c-fdc880dd81d4/cancel"),
        ("POST", "/v2/sweep/status/../../partner"),
        ("GET", "/admin/"),
        ("GET", "@evil.example/v2/status"),
    ],
)
def test_a_page_reaches_nothing_else(proxy: str, method: str, path: str) -> None:
    request = requests.Request(method, proxy, json={} if method == "POST" else None).prepare()
    request.url = proxy + path if path.startswith("/") else f"{proxy}/{path}"
    with requests.Session() as session:
        assert session.send(request, timeout=SECONDS).status_code == 404


def test_a_large_body_is_refused_by_the_proxy(proxy: str) -> None:
    response = requests.post(f"{proxy}/v2/sweep/build", data=b"{" + b" " * 2 * 1024 * 1024, timeout=SECONDS)
    assert response.status_code == 413
