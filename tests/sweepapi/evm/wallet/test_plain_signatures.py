"""Whether a delegated account takes its key's plain signature is found out without one, where a node can show it."""

from collections.abc import Callable
from typing import Any

import pytest

from sweepapi.evm.trial.attempts import ACCEPTS_SIGNATURES
from sweepapi.evm.wallet.accounts import delegate_of, validity_check
from sweepapi.evm.wallet.plain_signatures import (
    DIGEST,
    KNOWN_TO_TAKE_PLAIN,
    plain_signature_probes,
    takes_plain_signature,
)
from sweepapi.rpc import ProviderPool
from tests.fake_node import FakeNode
from tests.local_chain import PERMIT2, LocalChain
from tests.replaced_precompile import replacing_ecrecover
from tests.wallets import code_at, delegate, deployed

METHODS = ["eth_call", "eth_simulateV1"]
KNOWN = next(iter(KNOWN_TO_TAKE_PLAIN))
# Accepts any signature if the gas price is zero, and none otherwise.
ACCEPTS_IN_CALLS = "3a601557" + "631626ba7e60e01b60005260206000f3" + "00" + "5b60006000fd"


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """A node of the local chain, which is the only provider."""
    fake = start_node()
    use_providers(fake.url)
    return fake


@pytest.fixture
def pool(node: FakeNode, use_providers: Callable[..., ProviderPool]) -> ProviderPool:
    return use_providers(node.url)


def shown(chain: LocalChain, pool: ProviderPool, *, nests: bool = False, delegate: str | None = None) -> bool | None:
    """Return what is found out about the first user's account."""
    account, multicall3 = chain.users[0].address, chain.contracts["multicall3"]
    answers = pool.batch(plain_signature_probes(account=account, multicall3=multicall3))
    return takes_plain_signature(answers, delegate=delegate, nests_typed_data=nests)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("contract", "takes"),
    [
        ("SigningBatchAccount", True),
        ("RehashingBatchAccount", False),
        ("NestingBatchAccount", False),
        ("BatchAccount", False),
    ],
)
def test_code_that_passes_the_digest_on_takes_plain_signatures(  # noqa: PLR0913 what is combined
    chain: LocalChain, node: FakeNode, pool: ProviderPool, method: str, contract: str, *, takes: bool
) -> None:
    delegate(chain, chain.users[0], deployed(chain, contract))
    node.alter = replacing_ecrecover(chain, by=method)
    assert shown(chain, pool) is takes


def test_code_that_asks_nothing_is_taken_at_its_word(chain: LocalChain, node: FakeNode, pool: ProviderPool) -> None:
    chain.put_code(chain.users[0].address, ACCEPTS_SIGNATURES.removeprefix("0x"))
    node.alter = replacing_ecrecover(chain, by="eth_call")
    assert shown(chain, pool) is True


def test_code_that_accepts_more_in_calls_than_in_transactions_is_asked_as_in_one(
    chain: LocalChain, node: FakeNode, pool: ProviderPool
) -> None:
    account = chain.users[0].address
    chain.put_code(account, ACCEPTS_IN_CALLS)
    data = validity_check(account=account, digest=DIGEST, signature=b"", sender=PERMIT2, gas=10**6).params[0]["data"]
    assert int(chain.rpc("eth_call", {"to": account, "data": data}, "latest")[:10], 16) == 0x1626BA7E
    node.alter = replacing_ecrecover(chain, by="eth_call")
    assert shown(chain, pool) is False
    (accepted,) = pool.batch([validity_check(account=account, digest=DIGEST, signature=b"", sender=PERMIT2, gas=10**6)])
    assert accepted is not True


def test_a_node_that_replaces_no_precompile_shows_nothing(chain: LocalChain, pool: ProviderPool) -> None:
    delegate(chain, chain.users[0], deployed(chain, "RehashingBatchAccount"))
    assert shown(chain, pool) is None


@pytest.mark.parametrize("nonsense", [None, "0x", "0x1234", "0x" + "ff" * 320, [], [{"calls": []}], {"calls": 1}, 7])
def test_nonsense_shows_nothing(chain: LocalChain, node: FakeNode, pool: ProviderPool, nonsense: Any) -> None:
    node.alter = lambda method, _params, result: nonsense if method in METHODS else result
    assert shown(chain, pool) is None


def test_a_node_that_refuses_overrides_shows_nothing(chain: LocalChain, node: FakeNode, pool: ProviderPool) -> None:
    node.lacks = METHODS
    assert shown(chain, pool) is None


def test_where_nothing_is_shown_the_delegate_may_be_known() -> None:
    assert takes_plain_signature([None, None], delegate=KNOWN, nests_typed_data=False) is True
    assert takes_plain_signature([None, None], delegate=KNOWN, nests_typed_data=True) is True
    assert takes_plain_signature([None, False], delegate=KNOWN, nests_typed_data=False) is False, "what is shown counts"


def test_where_nothing_is_shown_or_known_nested_typed_data_is_a_no() -> None:
    assert takes_plain_signature([None, None], delegate=PERMIT2, nests_typed_data=True) is False
    assert takes_plain_signature([None, None], delegate=PERMIT2, nests_typed_data=False) is None
    assert takes_plain_signature([True, None], delegate=PERMIT2, nests_typed_data=True) is True


def test_known_delegates_are_spelled_as_accounts_name_them(chain: LocalChain) -> None:
    for known in KNOWN_TO_TAKE_PLAIN:
        delegate(chain, chain.users[0], known)
        code = bytes.fromhex(code_at(chain, chain.users[0].address))
        assert delegate_of(code) == known
