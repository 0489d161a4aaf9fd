"""A provider that fails, lags or is slow is queried after the others, and one of another chain not at all."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from dev.processes.waiting import wait_until
from sweepapi.rpc import ProviderPool, provider
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError, PausedError
from sweepapi.rpc.health import CIRCUIT_FAILURES, HEAD_SECONDS, LATENCY_SECONDS, QUARANTINE_SECONDS
from sweepapi.rpc.ranking import ProviderStatus, ranked
from sweepapi.rpc.target import Head
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.sweepapi.rpc.calls import HEAD, NUMBER, ManualClock, pool_of

pytestmark = pytest.mark.usefixtures("probing")

SECRET = "key-in-the-url"


@pytest.fixture
def node(start_node: Callable[[], FakeNode]) -> FakeNode:
    return start_node()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def fail(_batch: list[dict[str, Any]]) -> tuple[int, bytes]:
    return 500, b""


def on_another_chain(method: str, _params: list[Any], result: Any) -> Any:
    return "0x1" if method == "eth_chainId" else result


def order_of(pool: ProviderPool) -> list[int]:
    """Return the positions in the order in which the providers are queried now."""
    return [one.position for one in ranked(pool.providers)]


# --- failover ---------------------------------------------------------------------------------------------------------


def test_the_next_provider_is_queried_if_one_fails(chain: LocalChain, node: FakeNode) -> None:
    node.raw = fail
    pool = pool_of("http://127.0.0.1:1", node.url, chain.world["rpcUrl"])
    answered, _ = pool.ask([NUMBER])
    assert answered is pool.providers[2]


def test_a_provider_that_hangs_leaves_time_for_the_next(chain: LocalChain, node: FakeNode) -> None:
    pool = pool_of(node.url, chain.world["rpcUrl"])
    with node.hung():
        answered, _ = pool.ask([NUMBER], timeout_seconds=4)
    assert answered is pool.providers[1]


def test_without_any_response_the_chain_is_unavailable(caplog: pytest.LogCaptureFixture) -> None:
    for pool in (pool_of(), pool_of(f"http://127.0.0.1:1/{SECRET}", f"http://127.0.0.1:2/{SECRET}")):
        with pytest.raises(ChainUnavailableError) as caught:
            pool.batch([NUMBER])
        assert SECRET not in repr(caught.value)
    assert SECRET not in caplog.text


def test_an_empty_batch_needs_no_provider() -> None:
    assert pool_of("http://127.0.0.1:1").batch([]) == []


def test_excluded_providers_are_never_queried(chain: LocalChain) -> None:
    pool = pool_of(chain.world["rpcUrl"], chain.world["rpcUrl"])
    with pytest.raises(ChainUnavailableError):
        pool.ask([NUMBER], exclude=pool.providers)


# --- what makes a provider worse --------------------------------------------------------------------------------------


def test_a_provider_that_failed_is_queried_after_the_others_until_that_was_long_ago(
    chain: LocalChain, node: FakeNode, clock: ManualClock
) -> None:
    pool = pool_of(node.url, chain.world["rpcUrl"], clock=clock)
    node.raw = fail
    for _ in range(3):
        pool.batch([HEAD])
    assert len(node.asked) == 1
    assert pool.state[0].status is ProviderStatus.UNRELIABLE
    clock.forward(120)
    pool.batch([HEAD])
    assert len(node.asked) == 2


def test_a_provider_with_an_open_circuit_is_queried_last_until_it_closes(clock: ManualClock) -> None:
    pool = pool_of("http://a", "http://b", clock=clock)
    pool.providers[0].health.open_until = clock() + 60
    assert (order_of(pool), pool.state[0].status) == ([1, 0], ProviderStatus.FAILING)
    clock.forward(60)
    assert order_of(pool) == [0, 1]


def fail_until_known(pool: ProviderPool) -> None:
    """Ask until requests are refused without asking."""

    def is_refused_at_once() -> bool:
        with pytest.raises(ChainUnavailableError) as refused:
            pool.batch([NUMBER])
        return str(refused.value) == "no provider answers"

    wait_until(is_refused_at_once, within_seconds=60, what="knowledge of the outage")


def test_a_chain_that_keeps_failing_is_answered_at_once_and_probed_until_it_answers(node: FakeNode) -> None:
    pool = pool_of(node.url)
    node.raw = fail
    fail_until_known(pool)
    asked_by_the_probe = {"eth_chainId", "eth_getBlockByNumber"}
    node.asked.clear()
    with pytest.raises(ChainUnavailableError):
        pool.batch([NUMBER])
    assert {method for batch in node.asked for method in batch} <= asked_by_the_probe
    node.raw = None

    def is_back() -> bool:
        with suppress(ChainUnavailableError):
            return bool(pool.batch([NUMBER])[0] > 0)
        return False

    wait_until(is_back, within_seconds=60, what="the end of the outage")
    assert pool.providers[0].health.failures == 0


def test_a_request_that_fails_alone_does_not_make_the_chain_unavailable(node: FakeNode) -> None:
    pool = pool_of(node.url)
    node.lacks = {"eth_blockNumber"}
    for _ in range(CIRCUIT_FAILURES + 2):
        with pytest.raises(ChainUnavailableError, match="in time"):
            pool.batch([NUMBER])
    assert pool.batch([HEAD])


def test_a_provider_that_lags_is_queried_after_the_others(chain: LocalChain, node: FakeNode) -> None:
    node.alter = lambda method, _params, result: (
        result | {"number": "0x1"} if method == "eth_getBlockByNumber" else result
    )
    pool = pool_of(node.url, chain.world["rpcUrl"])
    pool.batch([HEAD])
    pool.ask([HEAD], exclude=pool.providers[:1])
    answered, _ = pool.ask([HEAD])
    assert answered is pool.providers[1]
    assert pool.state[0].status is ProviderStatus.LAGGING
    assert pool.state[0].blocks_behind == chain.web3.eth.block_number - 1


def test_a_provider_that_was_queried_long_before_the_others_does_not_lag(clock: ManualClock) -> None:
    pool = pool_of("http://a", "http://b", clock=clock)
    pool.providers[0].health.note_head(Head(100))
    clock.forward(5)
    pool.providers[1].health.note_head(Head(120))
    assert order_of(pool) == [0, 1], "the chain may have grown in these seconds"
    pool.providers[0].health.note_head(Head(101))
    assert order_of(pool) == [1, 0]
    clock.forward(HEAD_SECONDS)
    assert order_of(pool) == [0, 1], "it may have caught up"


def test_one_of_three_that_makes_up_a_head_does_not_make_the_others_lag() -> None:
    pool = pool_of("http://a", "http://b", "http://c")
    for one, number in zip(pool.providers, (100, 2**39, 99), strict=True):
        one.health.note_head(Head(number))
    assert order_of(pool) == [0, 1, 2]
    assert [one.blocks_behind for one in pool.state] == [0, 0, 1]


def test_a_provider_that_takes_much_longer_than_another_is_queried_after_it_for_a_while(clock: ManualClock) -> None:
    pool = pool_of("http://a", "http://b", clock=clock)
    pool.providers[0].health.note_latency(0.9)
    assert order_of(pool) == [0, 1], "nothing is known of the other"
    pool.providers[1].health.note_latency(0.2)
    assert (order_of(pool), pool.state[0].status) == ([1, 0], ProviderStatus.SLOW)
    clock.forward(LATENCY_SECONDS)
    assert order_of(pool) == [0, 1]


def test_differences_of_milliseconds_do_not_change_the_order() -> None:
    pool = pool_of("http://a", "http://b")
    pool.providers[0].health.note_latency(0.2)
    pool.providers[1].health.note_latency(0.001)
    assert order_of(pool) == [0, 1]


def test_a_provider_that_two_others_contradict_is_queried_last() -> None:
    pool = pool_of("http://a", "http://b", "http://c")
    pool.providers[0].health.note_outvoted()
    pool.providers[1].health.open_until = 2_000.0
    assert order_of(pool) == [2, 1, 0]
    assert pool.state[0].status is ProviderStatus.DISTRUSTED


# --- another network --------------------------------------------------------------------------------------------------


def test_a_provider_on_another_chain_is_quarantined_and_queried_again_later(
    chain: LocalChain, node: FakeNode, clock: ManualClock
) -> None:
    node.alter = on_another_chain
    pool = pool_of(node.url, chain.world["rpcUrl"], clock=clock)
    with capture_logs() as logs:
        for _ in range(3):
            assert pool.ask([NUMBER])[0] is pool.providers[1]
    alerts = [one for one in logs if one["log_level"] == "error"]
    assert [(one["event"], one["provider"]) for one in alerts] == [("provider_quarantined", repr(pool.providers[0]))]
    assert len(node.asked) == 1
    assert pool.state[0].status is ProviderStatus.QUARANTINED

    clock.forward(QUARANTINE_SECONDS)
    pool.ask([NUMBER])
    assert node.asked[1:] == [["eth_chainId", "eth_blockNumber"]], "the chain is checked again"
    node.alter = lambda _method, _params, result: result
    clock.forward(QUARANTINE_SECONDS)
    assert pool.ask([NUMBER])[0] is pool.providers[0]


def test_in_quarantine_a_provider_is_not_queried_even_if_it_is_the_only_one(node: FakeNode) -> None:
    node.alter = on_another_chain
    pool = pool_of(node.url)
    with pytest.raises(BadResponseError, match="another network: eth_chainId is 1"):
        pool.providers[0].batch([NUMBER], timeout_seconds=2)
    with pytest.raises(PausedError):
        pool.providers[0].batch([NUMBER], timeout_seconds=2)
    with pytest.raises(ChainUnavailableError):
        pool.batch([NUMBER])
    assert len(node.asked) == 1


def test_the_chain_is_checked_again_after_a_while(node: FakeNode, clock: ManualClock) -> None:
    pool = pool_of(node.url, clock=clock)
    pool.batch([NUMBER])
    node.alter = on_another_chain
    clock.forward(provider.PROOF_RECHECK_SECONDS + 1)
    with pytest.raises(BadResponseError, match="another network: eth_chainId is 1"):
        pool.providers[0].batch([NUMBER], timeout_seconds=2)


def test_a_chain_with_the_same_id_and_another_first_block_is_another_chain(chain: LocalChain, node: FakeNode) -> None:
    genesis = chain.web3.eth.get_block(0)["hash"].to_0x_hex()
    assert pool_of(node.url, genesis_hash=genesis).batch([NUMBER])[0] > 0
    assert node.asked == [["eth_chainId", "eth_getBlockByNumber", "eth_blockNumber"]], "in the same request"
    other = pool_of(node.url, genesis_hash="0x" + "ab" * 32)
    with pytest.raises(BadResponseError, match="another network: eth_getBlockByNumber is 0x"):
        other.providers[0].batch([NUMBER], timeout_seconds=2)


@pytest.mark.parametrize("first_block", [None, "refused"])
def test_a_node_that_no_longer_has_the_first_block_is_believed_by_its_chain_id(
    node: FakeNode, first_block: str | None
) -> None:
    node.alter = lambda method, params, result: (
        first_block if (method, params[:1]) == ("eth_getBlockByNumber", ["0x0"]) else result
    )
    pool = pool_of(node.url, genesis_hash="0x" + "ab" * 32)
    assert pool.batch([NUMBER])[0] > 0
    assert pool.state[0].status is ProviderStatus.HEALTHY


# --- what others may know ---------------------------------------------------------------------------------------------


def test_the_state_is_plain_values_and_never_shows_the_url(chain: LocalChain) -> None:
    pool = pool_of(chain.world["rpcUrl"], f"http://127.0.0.1:1/{SECRET}")
    assert [one.status for one in pool.state] == [ProviderStatus.UNPROVEN] * 2
    pool.batch([HEAD])
    answered, unused = pool.state
    head = chain.web3.eth.get_block("latest")
    assert (answered.head_number, answered.head_timestamp) == (head["number"], head["timestamp"])
    assert (answered.network, answered.position, answered.answered, answered.failed) == ("eip155:31337", 0, 1, 0)
    assert answered.latency_seconds is not None
    assert (unused.position, unused.head_number, unused.latency_seconds) == (1, None, None)
    assert SECRET not in repr(pool.state) + repr(pool)
