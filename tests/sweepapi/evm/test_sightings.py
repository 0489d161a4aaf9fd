"""What one look at the chain concludes, and when it wants a second provider's word."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sweepapi import networks
from sweepapi.evm.responses import Block
from sweepapi.evm.rpc import ProviderPool
from sweepapi.evm.sightings import Depth, Sighting, Watched, look
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

HASH, OTHER = "0x" + "aa" * 32, "0x" + "bb" * 32
SEEN = Sighting(
    head_number=100,
    safe_number=68,
    final_number=36,
    receipts={},
    canonical=None,
    nonce_used=False,
    safe_timestamp=1_000,
)


@pytest.mark.parametrize(
    ("nonce_used", "safe_timestamp", "proven"),
    [(False, 1_001, True), (False, 1_000, False), (True, 1_001, False), (None, None, False), (None, 1_001, False)],
)
def test_only_an_unused_nonce_on_a_safe_block_past_the_deadline_is_proof(
    nonce_used: bool | None,  # noqa: FBT001 a case
    safe_timestamp: int | None,
    proven: bool,  # noqa: FBT001 a case
) -> None:
    seen = replace(SEEN, nonce_used=nonce_used, safe_timestamp=safe_timestamp)
    assert seen.proves_unused(1_000) is proven


@pytest.mark.parametrize(
    ("canonical", "height", "depth"),
    [
        (None, 50, Depth.UNKNOWN),
        (Block(50, OTHER, 0), 50, Depth.GONE),
        (Block(49, HASH, 0), 50, Depth.UNKNOWN),
        (Block(90, HASH, 0), 90, Depth.INCLUDED),
        (Block(68, HASH, 0), 68, Depth.SAFE),
        (Block(36, HASH, 0), 36, Depth.FINAL),
    ],
)
def test_the_depth_of_a_block(canonical: Block | None, height: int, depth: Depth) -> None:
    assert replace(SEEN, canonical=canonical).depth(height, HASH) is depth


def test_a_chain_without_safe_and_final_blocks_only_includes() -> None:
    young = replace(SEEN, safe_number=None, final_number=None, canonical=Block(1, HASH, 0))
    assert young.depth(1, HASH) is Depth.INCLUDED


def watched(chain: LocalChain, *hashes: str, key: str = "one") -> Watched:
    return Watched(
        key=key, contract=chain.contracts["v5"], nonce=10**9, deadline=2**40, tx_hashes=hashes, accepted=None
    )


def ask(pool: ProviderPool, *questions: Watched) -> dict[Any, Sighting]:
    return look(chain=networks.current().chains["local"], pool=pool, watched=questions)


def payment(chain: LocalChain) -> str:
    return chain.send(chain.users[0], {"to": chain.users[1].address, "data": "0x", "value": "1"})


def test_a_look_finds_what_was_mined_in_one_round_trip(
    chain: LocalChain, use_providers: Callable[..., ProviderPool], round_trips: list[list[str]]
) -> None:
    tx_hash = payment(chain)
    seen = ask(use_providers(chain.world["rpcUrl"]), watched(chain, tx_hash))["one"]
    receipt = seen.receipts[tx_hash]
    assert receipt is not None
    assert (receipt.succeeded, seen.nonce_used, seen.agreed) == (True, False, True)
    assert len(round_trips) == 1


def test_an_unknown_hash_is_asked_of_a_second_provider_and_no_third(
    chain: LocalChain,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    round_trips: list[list[str]],
) -> None:
    nodes = [start_node() for _ in range(3)]
    seen = ask(use_providers(*(node.url for node in nodes)), watched(chain, HASH))["one"]
    assert seen.receipts == {HASH: None}
    assert len(round_trips) == 2
    assert [len(node.asked) for node in nodes] == [1, 1, 0]


def test_a_receipt_that_only_the_second_knows_counts(
    chain: LocalChain, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    tx_hash, behind = payment(chain), start_node()
    behind.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    seen = ask(use_providers(behind.url, chain.world["rpcUrl"]), watched(chain, tx_hash))["one"]
    assert seen.receipts[tx_hash] is not None


def test_only_the_doubtful_are_asked_again(
    chain: LocalChain, use_providers: Callable[..., ProviderPool], round_trips: list[list[str]]
) -> None:
    pool = use_providers(chain.world["rpcUrl"], chain.world["rpcUrl"])
    seen = ask(pool, watched(chain, payment(chain), key="known"), watched(chain, HASH, key="doubtful"))
    assert set(seen) == {"known", "doubtful"}
    assert [methods.count("eth_getTransactionReceipt") for methods in round_trips] == [2, 1]


def test_many_sweeps_are_one_round_trip(
    chain: LocalChain, use_providers: Callable[..., ProviderPool], round_trips: list[list[str]]
) -> None:
    tx_hash = payment(chain)
    questions = [watched(chain, tx_hash, key=str(number)) for number in range(50)]
    assert len(ask(use_providers(chain.world["rpcUrl"]), *questions)) == 50
    assert len(round_trips) == 1


def test_a_block_of_another_chains_history_is_seen_as_gone(
    chain: LocalChain, use_providers: Callable[..., ProviderPool]
) -> None:
    height = chain.receipt(payment(chain))["blockNumber"]
    question = replace(watched(chain), accepted=(height, OTHER))
    seen = ask(use_providers(chain.world["rpcUrl"]), question)["one"]
    assert seen.depth(height, OTHER) is Depth.GONE
