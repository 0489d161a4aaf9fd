"""A partner who tries the sandbox, and the keys of others."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from sweeps.sandbox.node import SandboxNode
from tests.partner_app import PartnerApp
from tests.sweeps.sandbox.tester import SandboxUser


@pytest.fixture
def tester(app: PartnerApp) -> SandboxUser:
    return SandboxUser(app)


@pytest.fixture
def live_api(partner: Partner) -> Client:
    """A client with a live key of the same partner."""
    _, plaintext = ApiKey.issue(partner=partner, name="live", mode=Mode.LIVE)
    return Client(headers={"x-api-key": plaintext})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Have the node answer these methods with these results or errors; returns the list of all that it is asked."""
    original, methods = SandboxNode.ask, []

    def answering(**results: Any) -> list[str]:
        def ask(of_node: SandboxNode, method: str, *params: object) -> Any:
            methods.append(method)
            result = results[method] if method in results else original(of_node, method, *params)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(SandboxNode, "ask", ask)
        return methods

    return answering
