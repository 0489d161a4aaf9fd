"""Whatever one provider does, reads are answered, and nothing closes that another one does not show as well."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from dev.processes.waiting import wait_until
from sweepapi import networks
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.v5 import IS_NONCE_USED
from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.logs.sightings import Conclusion, Sighting, Subject, read_sightings
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.ranking import ProviderStatus, ranked
from tests.fake_node import FakeNode
from tests.local_chain import FINAL_AFTER, LocalChain
from tests.sweepapi.rpc.calls import HEAD, ManualClock, pool_of
from tests.sweepapi.rpc.faults import FAULTS, Fault, failing_every_second_time, refusing, status

NONCE = 10**9

Start = Callable[[], FakeNode]

each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@dataclass(frozen=True)
class Scene:
    """An event in a final block, and how it is looked up."""

    subject: Subject
    receipt: Receipt  # as it is

    def read(self, pool: ProviderPool) -> Sighting:
        return read_sightings(chain=networks.current().chains["local"], pool=pool, subjects=[self.subject])["one"]

    def is_read_as_it_is(self, sighting: Sighting) -> bool:
        return sighting.agreed and sighting.receipts == {self.receipt.tx_hash: self.receipt}


@pytest.fixture
def scene(chain: LocalChain) -> Scene:
    tx_hash = chain.cancel(NONCE)
    chain.mine(FINAL_AFTER)
    height, contract = chain.receipt(tx_hash)["blockNumber"], chain.contracts["v5"]

    def conclude(sighting: Sighting) -> Conclusion | None:
        block, shown = sighting.canonical, sighting.receipts[tx_hash]
        if block is None or sighting.final_number is None or sighting.final_number < height:
            return None
        if shown is None:
            return Conclusion((block, None))
        return Conclusion((block, shown.block_hash, shown.succeeded, shown.emitted_by(contract)))

    subject = Subject(
        "one", Read(contract, IS_NONCE_USED, (NONCE,)), (tx_hash,), height, conclude, content=lambda receipt: receipt
    )
    seen = Scene(subject, None).read(pool_of(chain.world["rpcUrl"]))  # type: ignore[arg-type]  # not known yet
    receipt = seen.receipts[tx_hash]
    assert receipt is not None
    return Scene(subject, receipt)


def pool_with(nodes: list[FakeNode], clock: ManualClock | None = None) -> ProviderPool:
    return pool_of(*(node.url for node in nodes), clock=clock, timeout_seconds=1.5, max_head_age_seconds=600)


# --- one provider of several ------------------------------------------------------------------------------------------


def no_request_is_under_way() -> bool:
    return not any(thread.name.startswith("ThreadPoolExecutor") for thread in threading.enumerate())


@each_fault
def test_with_three_providers_the_fault_of_one_hides_and_changes_nothing(
    scene: Scene, start_node: Start, clock: ManualClock, fault: Fault
) -> None:
    nodes = [start_node() for _ in range(3)]
    pool = pool_with(nodes, clock)
    with fault(nodes[0]):
        for _ in range(2):  # the second time it is known
            assert scene.is_read_as_it_is(scene.read(pool))
    wait_until(no_request_is_under_way, within_seconds=60, what="the end of requests that came too late")
    clock.forward(700)
    assert scene.is_read_as_it_is(scene.read(pool))
    assert (ranked(pool.providers)[0].position, pool.state[0].status) == (0, ProviderStatus.HEALTHY), "it recovered"


@each_fault
@pytest.mark.parametrize("position", [0, 1])
def test_with_two_providers_the_fault_of_one_closes_nothing_that_is_not_so(
    scene: Scene, start_node: Start, fault: Fault, position: int
) -> None:
    nodes = [start_node() for _ in range(2)]
    pool = pool_with(nodes)
    with fault(nodes[position]):
        seen = scene.read(pool)
    assert scene.is_read_as_it_is(seen) or not seen.agreed


# --- eRPC's scenarios -------------------------------------------------------------------------------------------------


def failing_percent(percent: int) -> Fault:
    """Fail that share of the requests, evenly spread."""
    turns = count(1)

    def refuse(_batch: list[dict[str, Any]]) -> bool:
        turn = next(turns)
        return turn * percent // 100 > (turn - 1) * percent // 100

    return refusing(refuse)


def heads(pool: ProviderPool, clock: ManualClock, *, reads: int) -> Iterator[int]:
    """Read the head a number of times, a second apart; yield the position of the provider that answered."""
    for _ in range(reads):
        clock.forward(1)
        yield pool.ask([HEAD])[0].position


def test_gradual_degradation_moves_the_reads_to_another_provider(start_node: Start, clock: ManualClock) -> None:
    nodes = [start_node() for _ in range(2)]
    pool = pool_with(nodes, clock)
    shares = []
    for percent in (0, 20, 70):
        with failing_percent(percent)(nodes[0]):
            shares.append(list(heads(pool, clock, reads=20)).count(0))
    assert shares[0] == 20
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 3


def test_an_outage_of_two_of_three_providers_is_survived_and_forgotten_when_it_ended(
    start_node: Start, clock: ManualClock
) -> None:
    nodes = [start_node() for _ in range(3)]
    pool = pool_with(nodes, clock)
    with status(503)(nodes[0]), failing_every_second_time()(nodes[1]):
        assert 0 not in set(heads(pool, clock, reads=20))
    clock.forward(300)
    assert set(heads(pool, clock, reads=3)) == {0}


def test_a_cascade_of_different_faults_leaves_the_one_provider_that_works(
    start_node: Start, clock: ManualClock
) -> None:
    nodes = [start_node() for _ in range(4)]
    pool = pool_with(nodes, clock)
    with status(502)(nodes[0]), status(429)(nodes[1]), status(200, b"{")(nodes[2]):
        assert set(heads(pool, clock, reads=15)) == {3}
    assert len(nodes[1].asked) <= 5, "each 429 doubles the wait"


def test_an_overload_of_all_providers_is_met_by_asking_the_next_one(start_node: Start, clock: ManualClock) -> None:
    nodes = [start_node() for _ in range(3)]
    pool = pool_with(nodes, clock)
    with ExitStack() as overloaded:
        for node in nodes:
            overloaded.enter_context(failing_percent(15)(node))
        assert len(list(heads(pool, clock, reads=20))) == 20
