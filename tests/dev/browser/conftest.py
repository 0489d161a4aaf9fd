"""One browser for all tests, and the documentation for partners, served by the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from dev.browser.browser import Browser, running
from sweepapi.api.openapi import site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running() as chromium:
        yield chromium


@pytest.fixture
def documentation(site_pages: Path, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of the service, which serves the built documentation."""
    monkeypatch.setattr(site, "FOLDER", site_pages)
    return str(live_server.url)
