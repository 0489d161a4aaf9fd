"""Every batch that is sent to a provider is counted, by its position, which shows no URL."""

import time
from collections.abc import Callable

import pytest
from prometheus_client import REGISTRY, generate_latest

from sweepapi.rpc.errors import BadResponseError
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import HEAD, NUMBER, pool_of

PROVIDER = {"network": "eip155:31337", "provider": "0"}


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"sweepapi_{name}", PROVIDER | labels) or 0


def test_the_calls_of_a_batch_are_counted_by_method_and_the_request_once(chain: LocalChain) -> None:
    def counted() -> list[float]:
        calls = [
            sample("rpc_calls_total", method=method, outcome="answered")
            for method in ("eth_getBlockByNumber", "eth_blockNumber")
        ]
        return [*calls, sample("rpc_request_seconds_count")]

    before = counted()
    pool_of(chain.world["rpcUrl"]).batch([HEAD, NUMBER, NUMBER])
    assert [after - earlier for earlier, after in zip(before, counted(), strict=True)] == [1, 2, 1]
    assert sample("provider_answer_timestamp_seconds") == pytest.approx(time.time(), abs=10)


def test_a_batch_that_failed_is_counted_by_how_it_failed(start_node: Callable[[], FakeNode]) -> None:
    node = start_node()
    node.raw = lambda _batch: (429, b"")
    labels = {"method": "eth_blockNumber", "outcome": "throttled"}
    before = sample("rpc_calls_total", **labels)
    with pytest.raises(BadResponseError):
        pool_of(node.url).providers[0].batch([NUMBER], timeout_seconds=2)
    assert sample("rpc_calls_total", **labels) == before + 1
    assert sample("provider_failure_timestamp_seconds") == pytest.approx(time.time(), abs=10)


def test_no_metric_shows_the_url_of_a_provider() -> None:
    with pytest.raises(BadResponseError):
        pool_of("http://127.0.0.1:1/secret-key").providers[0].batch([NUMBER], timeout_seconds=2)
    assert sample("rpc_calls_total", method="eth_blockNumber", outcome="no_answer") > 0
    assert b"secret-key" not in generate_latest()
    assert b"127.0.0.1" not in generate_latest()
