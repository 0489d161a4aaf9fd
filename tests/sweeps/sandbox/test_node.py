"""The node of a sandbox chain: the service controls no node of a live chain, and none of another chain by mistake."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from sweepapi import networks
from sweepapi.errors import UnsupportedChain
from sweeps.sandbox import node
from sweeps.sandbox.node import node_of
from tests.factories.sweeps import LOCAL
from tests.partner_app import error_of
from tests.sweeps.sandbox.tester import REQUESTS, SandboxUser

pytestmark = pytest.mark.django_db


@pytest.fixture
def first_use(tester: SandboxUser) -> Iterator[SandboxUser]:
    """A partner whose request is the first of this process to the node."""
    node.proven_node.cache_clear()
    yield tester
    node.proven_node.cache_clear()


@pytest.mark.parametrize(
    "results",
    [
        {"eth_chainId": "0x1"},
        {"eth_getBlockByNumber": {"hash": "0x" + "0a" * 32}},  # of another chain with the same id
        {"eth_getBlockByNumber": None},
    ],
)
@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_a_node_of_another_chain_is_only_read_to_find_that_out(
    first_use: SandboxUser, asked: Callable[..., list[str]], results: dict[str, Any], path: str, body: dict[str, Any]
) -> None:
    methods = asked(**results)
    for _ in range(2):
        assert error_of(first_use.post(path, body)) == (503, "chain_unavailable")
    assert set(methods) == {"eth_chainId", "eth_getBlockByNumber"}


def test_a_node_of_another_chain_is_logged_as_an_error(
    first_use: SandboxUser, asked: Callable[..., list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    asked(eth_chainId="0x1")
    first_use.post("/advance", {"chain": "local"})
    (event,) = [record for record in caplog.records if "sandbox_node_of_another_chain" in record.getMessage()]
    assert event.levelname == "ERROR"


def test_a_node_is_compared_with_its_chain_once(first_use: SandboxUser, asked: Callable[..., list[str]]) -> None:
    methods = asked()
    first_use.fund()
    first_use.fund()
    assert methods.count("eth_chainId") == 1


@pytest.mark.usefixtures("no_providers")
def test_a_node_is_not_used_before_a_provider_shows_the_chain(
    first_use: SandboxUser, asked: Callable[..., list[str]]
) -> None:
    methods = asked()
    assert error_of(first_use.post("/advance", {"chain": "local"})) == (503, "chain_unavailable")
    assert methods == []


def test_a_chain_that_is_not_marked_as_a_sandbox_has_no_node(
    tester: SandboxUser,  # noqa: ARG001 the local chain, whose node is configured
    change_networks: Callable[..., Any],
) -> None:
    assert node_of(networks.current(), LOCAL)
    local = networks.current().chains["local"]
    change_networks(chains={"local": replace(local, sandbox=False)})
    with pytest.raises(UnsupportedChain):
        node_of(networks.current(), LOCAL)
