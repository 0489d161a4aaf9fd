"""One browser for all tests, and the documentation for partners, built once and served by the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from dev.browser.browser import Browser, running
from sweepapi.api.openapi import site
from tests.documentation import build


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running() as chromium:
        yield chromium


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built documentation."""
    return build(tmp_path_factory.mktemp("documentation"))


@pytest.fixture
def documentation(built_site: Path, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of the service, which serves the built documentation."""
    monkeypatch.setattr(site, "FOLDER", built_site)
    return str(live_server.url)
