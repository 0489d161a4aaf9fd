"""Observers learn of every batch: which provider, which methods, how it ended, how long it took; never the URL."""

from collections.abc import Callable

import pytest

from sweepapi.rpc import observing
from sweepapi.rpc.errors import BadResponseError
from sweepapi.rpc.observing import Batch, observe
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import HEAD, NUMBER, Reply, pool_of


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    monkeypatch.setattr(observing, "_observers", [])
    batches: list[Batch] = []
    observe(batches.append)
    return batches


def test_a_batch_that_was_answered_is_observed_once(chain: LocalChain, observed: list[Batch]) -> None:
    pool_of(chain.world["rpcUrl"]).batch([HEAD, NUMBER, NUMBER])
    (batch,) = observed
    assert (batch.network, batch.position, batch.outcome) == ("eip155:31337", 0, "answered")
    assert batch.methods == {"eth_getBlockByNumber": 1, "eth_blockNumber": 2}
    assert 0 < batch.seconds < 5


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (lambda _batch: (429, b""), "throttled"),
        (lambda _batch: (413, b""), "refused"),
        (lambda _batch: (500, b""), "unusable"),
        (lambda _batch: (200, b"nonsense"), "unusable"),
        (lambda _batch: (200, b'[{"id": 0, "result": "0x1"}, {"id": 1, "result": "0x1"}]'), "wrong_network"),
    ],
)
def test_how_a_batch_ended_is_observed(
    start_node: Callable[[], FakeNode], observed: list[Batch], reply: Reply, outcome: str
) -> None:
    node = start_node()
    node.raw = reply
    with pytest.raises(BadResponseError):
        pool_of(node.url).providers[0].batch([NUMBER], timeout_seconds=2)
    assert [one.outcome for one in observed] == [outcome]


def test_a_provider_that_can_not_be_reached_is_observed_without_its_url(observed: list[Batch]) -> None:
    with pytest.raises(BadResponseError):
        pool_of("http://127.0.0.1:1/secret").providers[0].batch([NUMBER], timeout_seconds=2)
    assert [one.outcome for one in observed] == ["no_answer"]
    assert "secret" not in repr(observed)


def test_a_provider_that_is_not_queried_is_not_observed(observed: list[Batch]) -> None:
    pool = pool_of("http://127.0.0.1:1")
    pool.providers[0].health.quarantine()
    with pytest.raises(BadResponseError):
        pool.providers[0].batch([NUMBER], timeout_seconds=2)
    assert observed == []
