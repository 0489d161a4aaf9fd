"""Web listens where others reach it only behind a proxy that is named; on real processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from django.conf import settings

from config import gunicorn

START_SECONDS = 60


@pytest.mark.parametrize(
    ("bind", "proxies"),
    [("0.0.0.0:0", {}), ("[::]:0", {"TRUSTED_PROXIES": ""}), ("127.0.0.1:0,0.0.0.0:0", {})],
)
def test_a_public_bind_without_a_proxy_does_not_start(bind: str, proxies: dict[str, str]) -> None:
    binds = [argument for one in bind.split(",") for argument in ("--bind", one)]
    environment = {name: value for name, value in os.environ.items() if name != "TRUSTED_PROXIES"}
    ended = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", *binds, "config.wsgi"],
        env={**environment, "PYTHONPATH": str(settings.BASE_DIR), **proxies},
        stderr=subprocess.PIPE,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    assert ended.returncode == 1
    assert "TRUSTED_PROXIES must name the proxies in front of it." in ended.stderr


def listening(family: int, address: str | tuple[str, int]) -> socket.socket:
    bound = socket.socket(family)
    bound.bind(address)
    return bound


@pytest.fixture
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[socket.socket]]:
    """Sockets that only this host reaches."""
    path = tmp_path_factory.mktemp("web") / "web.sock"
    with (
        listening(socket.AF_INET, ("127.0.0.2", 0)) as plain,
        listening(socket.AF_INET6, ("::1", 0)) as newer,
        listening(socket.AF_UNIX, str(path)) as unix,
    ):
        yield [plain, newer, unix]


@pytest.fixture
def public() -> Iterator[socket.socket]:
    with listening(socket.AF_INET, ("0.0.0.0", 0)) as bound:  # noqa: S104 nothing is accepted
        yield bound


def is_ready(*sockets: socket.socket) -> bool:
    with suppress(RuntimeError):
        gunicorn.when_ready(SimpleNamespace(LISTENERS=[SimpleNamespace(sock=one) for one in sockets]))
        return True
    return False


def test_local_sockets_need_no_proxy_and_others_a_named_one(
    local: list[socket.socket], public: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUSTED_PROXIES", raising=False)
    assert is_ready(*local)
    assert not is_ready(*local, public)
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.1")
    assert is_ready(*local, public)
