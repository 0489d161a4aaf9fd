"""What is known of a provider decides whether and when it is queried, and fades unless it is confirmed."""

import pytest

from sweepapi.rpc.health import (
    CIRCUIT_FAILURES,
    DISTRUST_SECONDS,
    HALF_LIFE_SECONDS,
    HEAD_SECONDS,
    LATENCY_SECONDS,
    MAX_WAIT_SECONDS,
    QUARANTINE_SECONDS,
    ProviderHealth,
)
from sweepapi.rpc.target import Head
from tests.sweepapi.rpc.calls import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def health(clock: ManualClock) -> ProviderHealth:
    return ProviderHealth(clock)


def test_after_several_failures_in_a_row_the_circuit_opens_for_longer_each_time(
    health: ProviderHealth, clock: ManualClock
) -> None:
    opened = []
    for _ in range(CIRCUIT_FAILURES + 2):
        health.note_failure()
        opened.append(max(health.open_until - clock(), 0.0))
    assert opened == [0.0, 0.0, 10.0, 20.0, 30.0]
    health.note_answer()
    assert (health.failures, health.failed, health.answered) == (0, 5, 1)


def test_the_error_rate_follows_the_latest_answers_and_halves_while_nothing_is_queried(
    health: ProviderHealth, clock: ManualClock
) -> None:
    for _ in range(20):
        health.note_failure()
    assert health.error_rate > 0.9
    before = health.error_rate
    clock.forward(HALF_LIFE_SECONDS)
    assert health.error_rate == pytest.approx(before / 2)
    for _ in range(20):
        health.note_answer()
    assert health.error_rate < 0.01


def test_a_latency_is_an_average_and_is_forgotten_after_a_while(health: ProviderHealth, clock: ManualClock) -> None:
    assert health.latency is None
    health.note_latency(1.0)
    health.note_latency(2.0)
    assert health.latency == pytest.approx(1.2)
    clock.forward(LATENCY_SECONDS)
    assert health.latency is None
    health.note_latency(3.0)
    assert health.latency == 3.0


def test_a_head_is_known_for_good_and_recent_for_a_while(health: ProviderHealth, clock: ManualClock) -> None:
    assert health.recent_head is None
    health.note_head(Head(7, 1_700_000_000))
    assert health.recent_head == (7, clock())
    clock.forward(HEAD_SECONDS)
    assert health.recent_head is None
    assert health.head == Head(7, 1_700_000_000)


def test_each_refusal_doubles_the_wait_up_to_a_limit(health: ProviderHealth, clock: ManualClock) -> None:
    waits = []
    for _ in range(9):
        health.note_throttling(None)
        waits.append(health.paused_for_seconds)
        clock.forward(health.paused_for_seconds)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    health.note_answer()
    health.note_throttling(None)
    assert health.paused_for_seconds == 1


def test_refusals_of_requests_that_were_under_way_together_count_once(health: ProviderHealth) -> None:
    for _ in range(8):
        health.note_throttling(None)
    assert (health.paused_for_seconds, health.throttles) == (1, 1)


@pytest.mark.parametrize(("retry_after", "waits"), [(7.0, 7), (0.0, 1), (-5.0, 1), (1e9, MAX_WAIT_SECONDS)])
def test_a_provider_says_how_long_to_wait_within_bounds(
    health: ProviderHealth, retry_after: float, waits: float
) -> None:
    health.note_throttling(retry_after)
    assert health.paused_for_seconds == waits


def test_a_refusal_by_rate_does_not_open_the_circuit(health: ProviderHealth) -> None:
    for _ in range(10):
        health.note_throttling(None)
    assert not health.is_open
    assert health.error_rate == 0


def test_a_quarantine_ends_and_the_network_has_to_be_proven_again(health: ProviderHealth, clock: ManualClock) -> None:
    health.proven_at = clock()
    health.quarantine()
    assert health.paused_for_seconds == QUARANTINE_SECONDS
    assert health.proven_at is None
    clock.forward(QUARANTINE_SECONDS)
    assert (health.paused_for_seconds, health.is_quarantined) == (0, False)


def test_a_provider_that_was_outvoted_is_distrusted_for_a_while(health: ProviderHealth, clock: ManualClock) -> None:
    health.note_outvoted()
    assert (health.is_distrusted, health.outvoted) == (True, 1)
    clock.forward(DISTRUST_SECONDS)
    assert not health.is_distrusted
