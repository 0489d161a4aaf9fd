"""A node that hangs takes two threads of a process at most: further requests are refused at once."""

from typing import Any

import pytest
from pytest_django import Settings

from sweeps.sandbox.places import sandbox_place
from tests.openapi import assert_documented
from tests.partner_app import error_of
from tests.sweeps.sandbox.tester import REQUESTS, SandboxUser

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_third_request_at_a_time_is_refused_until_one_of_two_is_done(
    tester: SandboxUser, path: str, body: dict[str, Any]
) -> None:
    with sandbox_place():
        with sandbox_place():
            refused = tester.post(path, body)
            assert (error_of(refused), refused.headers["Retry-After"]) == ((503, "service_unavailable"), "1")
            if not path.startswith("/rpc"):
                assert_documented(refused, path=f"/v2/sandbox{path}")
            assert tester.app.api.get("/v2/sandbox").status_code == 200
        assert tester.post(path, body).status_code == 200


@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_request_that_fails_frees_its_place(
    tester: SandboxUser, settings: Settings, path: str, body: dict[str, Any]
) -> None:
    urls, settings.SANDBOX_RPC_URLS = settings.SANDBOX_RPC_URLS, {"local": "http://127.0.0.1:1"}
    for _ in range(3):
        assert error_of(tester.post(path, body)) == (503, "chain_unavailable")
    settings.SANDBOX_RPC_URLS = urls
    assert tester.post(path, body).status_code == 200
