"""Many sweeps are read in few round trips, and one that cannot be looked up delays only itself."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain as flattened
from uuid import UUID, uuid4

import pytest

from sweepapi import networks
from sweepapi.evm.encoding.responses import Block
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.rpc import ProviderPool
from sweeps.protocol.rail import Depth
from sweeps.rails.evm.follow import following
from sweeps.rails.evm.follow.followed import FollowedEvmSweep, depth_of
from sweeps.rails.evm.follow.following import EvmReading, read
from tests.factories.followed import FOLLOWED, TERMS
from tests.factories.ledger import random_hash
from tests.factories.sweeps import LOCAL
from tests.fake_node import FakeNode
from tests.local_chain import SAFE_AFTER, LocalChain

HASH, OTHER = "0x" + "aa" * 32, "0x" + "bb" * 32
USED, UNUSED = 10**9, 10**9 + 1
SIGHTING = Sighting(
    head_number=100,
    safe_number=68,
    final_number=36,
    receipts={},
    canonical=None,
    state=False,
    safe_timestamp=1_000,
)

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


def watching(contract: str, tx_hashes: tuple[str, ...] = (), *, nonce: int = UNUSED) -> FollowedEvmSweep:
    """Return a sweep of this nonce whose deadline is far away."""
    terms = replace(TERMS, nonce=nonce)
    here = replace(FOLLOWED, sweep_id=uuid4(), contract=contract, terms=terms)
    return replace(here, deadline=2**40, built_at_height=0, tx_hashes=tx_hashes)


@pytest.fixture
def contract(chain: LocalChain) -> str:
    """The contract of V5, one nonce of which is used, as the safe block shows."""
    chain.cancel(USED)
    chain.mine(SAFE_AFTER)
    return chain.contracts["v5"]


@pytest.fixture
def node(start_node: Start, use_providers: Providers) -> FakeNode:
    """The only provider."""
    node = start_node()
    use_providers(node.url)
    return node


def unmined(contract: str, count: int) -> list[FollowedEvmSweep]:
    """Return sweeps with one reported hash each, which no node knows."""
    return [watching(contract, (random_hash(),)) for _ in range(count)]


def read_all(
    followed: Iterable[FollowedEvmSweep], *, timeout_seconds: float | None = None
) -> dict[UUID, EvmReading | None]:
    return dict(
        flattened.from_iterable(read(networks.current(), LOCAL, list(followed), timeout_seconds=timeout_seconds))
    )


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout_seconds", [None, 5.0])
def test_a_batch_of_sweeps_is_one_round_trip(
    contract: str, round_trips: list[list[str]], timeout_seconds: float | None
) -> None:
    followed = unmined(contract, 40)
    round_trips.clear()
    seen = read_all(followed, timeout_seconds=timeout_seconds)
    assert list(seen) == [one.sweep_id for one in followed]
    assert all(one is not None and one.finding is None for one in seen.values())
    assert len(round_trips) == 1


def test_without_sweeps_there_is_no_round_trip(contract: str, round_trips: list[list[str]]) -> None:
    assert contract
    round_trips.clear()
    assert read_all([]) == {}
    assert round_trips == []


def test_a_batch_stays_under_the_calls_that_providers_take_at_once(
    contract: str, node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MAX_CALLS", 10)
    followed = [replace(one, tx_hashes=(random_hash(), random_hash())) for one in unmined(contract, 8)]
    assert len(read_all(followed)) == 8
    assert [methods.count("eth_getTransactionReceipt") for methods in node.asked] == [10, 6]


def test_a_sweep_with_more_hashes_than_a_batch_takes_is_checked_alone(
    contract: str, monkeypatch: pytest.MonkeyPatch, round_trips: list[list[str]]
) -> None:
    monkeypatch.setattr(following, "MAX_CALLS", 3)
    large = watching(contract, tuple(random_hash() for _ in range(5)))
    round_trips.clear()
    assert None not in read_all([watching(contract), large, watching(contract)]).values()
    assert [methods.count("eth_getTransactionReceipt") for methods in round_trips] == [0, 5, 0]


# --- failures ---------------------------------------------------------------------------------------------------------


def test_halving_isolates_a_hash_that_fails_the_whole_batch(contract: str, node: FakeNode) -> None:
    followed = unmined(contract, 9)
    poisoned = followed[5]
    node.refuse = lambda batch: any(request["params"] == list(poisoned.tx_hashes) for request in batch)
    seen = read_all(followed)
    assert len(seen) == 9
    assert [sweep_id for sweep_id, one in seen.items() if one is None] == [poisoned.sweep_id]


def test_a_chain_that_does_not_answer_is_not_queried_for_each_half(contract: str, node: FakeNode) -> None:
    node.refuse = lambda _batch: True
    assert list(read_all(unmined(contract, 8)).values()) == [None] * 8
    assert len(node.asked) <= 12, "the batch, smaller ones down to a single call, and whether the chain answers at all"


# --- searches ---------------------------------------------------------------------------------------------------------


def test_a_used_nonce_that_no_receipt_explains_is_searched_for(contract: str, round_trips: list[list[str]]) -> None:
    used, unused = watching(contract, nonce=USED), watching(contract)
    round_trips.clear()
    seen = read_all([used, unused])
    explained, unexplained = seen[used.sweep_id], seen[unused.sweep_id]
    assert explained is not None
    assert explained.finding is not None
    assert explained.finding.hit is not None
    assert unexplained is not None
    assert unexplained.finding is None
    assert ["eth_getLogs" in methods for methods in round_trips] == [False, True]


def test_a_check_with_a_timeout_does_not_search(contract: str, round_trips: list[list[str]]) -> None:
    used = watching(contract, nonce=USED)
    round_trips.clear()
    seen = read_all([used], timeout_seconds=5.0)[used.sweep_id]
    assert seen is not None
    assert (seen.sighting.state, seen.finding) == (True, None)
    assert len(round_trips) == 1


def test_many_searches_are_made_in_batches(
    contract: str, monkeypatch: pytest.MonkeyPatch, round_trips: list[list[str]]
) -> None:
    monkeypatch.setattr(following, "MAX_SEARCHES", 2)
    followed = [watching(contract, nonce=USED) for _ in range(5)]
    round_trips.clear()
    seen = read_all(followed)
    assert all(one is not None and one.finding is not None for one in seen.values())
    assert [methods.count("eth_getLogs") for methods in round_trips] == [0, 2, 2, 1]


def test_sweeps_that_need_no_search_are_seen_before_any_search(contract: str, round_trips: list[list[str]]) -> None:
    used, unused = watching(contract, nonce=USED), watching(contract)
    round_trips.clear()
    (first,) = next(read(networks.current(), LOCAL, [used, unused]))
    assert first[0] == unused.sweep_id
    assert len(round_trips) == 1


def test_a_failed_search_keeps_the_result_of_the_check(contract: str, node: FakeNode) -> None:
    used = watching(contract, nonce=USED)
    node.refuse = lambda batch: any(request["method"] == "eth_getLogs" for request in batch)
    seen = read_all([used])[used.sweep_id]
    assert seen is not None
    assert (seen.sighting.state, seen.finding) == (True, None)


# --- how deep ---------------------------------------------------------------------------------------------------------


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
def test_the_depth_of_a_block_follows_from_the_canonical_one(
    canonical: Block | None, height: int, depth: Depth
) -> None:
    assert depth_of(replace(SIGHTING, canonical=canonical), height, HASH) is depth


def test_without_safe_and_final_blocks_a_block_is_only_included() -> None:
    young = replace(SIGHTING, safe_number=None, final_number=None, canonical=Block(1, HASH, 0))
    assert depth_of(young, 1, HASH) is Depth.INCLUDED
