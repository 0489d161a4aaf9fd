"""A process that is forked while others use its providers can use them, too, over connections of its own."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from threading import Event, Thread

import pytest

from sweepapi import networks
from sweepapi.rpc import ProviderPool, health
from tests.fake_node import FakeNode
from tests.sweepapi.rpc.calls import NUMBER, pool_of

# Newer versions of Python warn of what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

FORK = multiprocessing.get_context("fork")


def _answer(pool: ProviderPool, network: str, result: Connection) -> None:
    result.send((pool.batch([NUMBER])[0], networks.current().pool(network) is not None))


def in_a_child(pool: ProviderPool, network: str) -> tuple[int, bool]:
    """Return what a forked process reads, and whether it has pools of its own."""
    ours, theirs = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_answer, args=(pool, network, theirs))
    child.start()
    try:
        assert ours.poll(10), "the child hangs"
        answer: tuple[int, bool] = ours.recv()
    finally:
        child.kill()
        child.join()
    return answer


@pytest.fixture
def node(start_node: Callable[[], FakeNode]) -> FakeNode:
    return start_node()


@contextmanager
def busy(pool: ProviderPool) -> Iterator[None]:
    """Have threads read and change the health of providers all the time."""
    done = Event()

    def work() -> None:
        while not done.is_set():
            pool.providers[0].health.note_latency(0.1)
            networks.current().pool("eip155:31337")

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_parent_and_child_read_over_connections_of_their_own(node: FakeNode) -> None:
    pool = pool_of(node.url)
    number = pool.batch([NUMBER])[0]
    assert in_a_child(pool, "eip155:31337") == (number, True)
    assert pool.batch([NUMBER])[0] == number
    assert node.asked.count(["eth_blockNumber"]) == 2, "what was proven before the fork is not proven again"
    assert node.connections == 2


def test_a_fork_while_threads_change_the_health_leaves_no_lock_held(node: FakeNode) -> None:
    pool = pool_of(node.url)
    pool.batch([NUMBER])
    with busy(pool):
        for _ in range(5):
            assert in_a_child(pool, "eip155:31337")[1]


def test_threads_that_note_failures_together_lose_none() -> None:
    one = health.ProviderHealth()

    def fail() -> None:
        for _ in range(500):
            one.note_failure()

    threads = [Thread(target=fail) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (one.failed, one.failures) == (4_000, 4_000)
