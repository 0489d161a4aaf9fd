"""POST /v2/sweep/build: a provider that hangs, lies about its chain or answers nonsense gets 503 in time."""

import time
from collections.abc import Callable
from itertools import product

import pytest

from sweepapi.rpc import ProviderPool
from tests.fake_node import FakeNode
from tests.partner_app import PartnerApp, error_of
from tests.stored_builds import stored_rows

pytestmark = pytest.mark.django_db

SECONDS = 5  # in which each answer must come; the provider has half a second


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """A node of the local chain, which is the only provider, and has half a second for an answer."""
    fake = start_node()
    use_providers(fake.url, timeout_seconds=0.5)
    return fake


def refused_as_unavailable(app: PartnerApp) -> bool:
    """Whether a build is refused in time, as one that can be repeated, and nothing is stored."""
    started = time.monotonic()
    response = app.post_build(app.body({"USDC": 3, "LINK": 1}, onUnroutable="skip"))
    assert time.monotonic() - started < SECONDS
    assert error_of(response) == (503, "chain_unavailable")
    assert response.headers["Retry-After"] == "5"
    return stored_rows() == []


def test_a_provider_that_does_not_answer_in_time_is_unavailable(app: PartnerApp, node: FakeNode) -> None:
    with node.hung():
        assert refused_as_unavailable(app)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"nonsense"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b"[" * 100_000),
        (200, b'[{"id": 0, "result": 7}]'),
        (200, b'"' + b"x" * 10**6 + b'"'),
        (500, b"[]"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_provider_whose_answers_have_another_shape_is_unavailable(
    app: PartnerApp, node: FakeNode, status: int, body: bytes
) -> None:
    node.raw = lambda _batch: (status, body)
    assert refused_as_unavailable(app)


@pytest.mark.parametrize(
    ("method", "result"),
    [
        *product(["eth_call", "eth_getBlockByNumber", "eth_getCode"], [None, 7, "0xzz", {}, []]),
        *product(["eth_call", "eth_getBlockByNumber"], ["0x", "0x" + "ff" * 64]),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_provider_that_answers_one_method_wrongly_is_unavailable(
    app: PartnerApp, node: FakeNode, method: str, result: object
) -> None:
    node.alter = lambda called, _params, real: result if called == method else real
    assert refused_as_unavailable(app)


def test_a_provider_of_another_chain_is_unavailable(app: PartnerApp, node: FakeNode) -> None:
    node.alter = lambda called, _params, real: "0x1" if called == "eth_chainId" else real
    assert refused_as_unavailable(app)
