"""A sliding window grants what it has within its seconds, in Redis and in memory, and believes the service's count."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.conf import settings

from dev.processes.waiting import wait_until
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.limits.sliding_window import Grant, LocalWindow, RedisWindow, WindowLimit

HOUR_SECONDS = 3600
Start = Callable[..., RedisWindow | LocalWindow]


@pytest.fixture(params=["redis", "local"])
def start(request: pytest.FixtureRequest) -> Start:
    """Make windows, by default one that no test waits for."""

    def make(requests: int, seconds: float = HOUR_SECONDS) -> RedisWindow | LocalWindow:
        limit = WindowLimit(requests, seconds)
        if request.param == "local":
            return LocalWindow(limit)
        return RedisWindow(SharedRedis(settings.REDIS_URL, timeout_seconds=10), f"window:test:{uuid4()}", limit)

    return make


def take(window: RedisWindow | LocalWindow, wanted: int, *, keeps_for_others: int = 0) -> Grant:
    grant = window.take(wanted, keeps_for_others=keeps_for_others)
    assert grant is not None
    return grant


def test_a_window_grants_its_limit_in_parts_and_then_says_when_it_grants_more(start: Start) -> None:
    window = start(5)
    assert take(window, 3) == Grant(3, 0)
    rest = take(window, 3)
    assert rest.count == 2
    assert HOUR_SECONDS - 60 < rest.seconds_to_next <= HOUR_SECONDS
    assert take(window, 1).count == 0


def test_what_was_granted_leaves_the_window(start: Start) -> None:
    window = start(2, 0.05)
    assert take(window, 5).count == 2
    wait_until(lambda: take(window, 5).count == 2, within_seconds=10, what="room in the window")


def test_what_is_kept_for_others_is_granted_to_them_alone(start: Start) -> None:
    window = start(4)
    kept = take(window, 4, keeps_for_others=2)
    assert kept.count == 2
    assert kept.seconds_to_next > HOUR_SECONDS - 60
    assert take(window, 4).count == 2


def test_fifty_at_once_get_what_the_window_has(start: Start) -> None:
    window = start(30)
    with ThreadPoolExecutor(50) as executor:
        granted = list(executor.map(lambda _: take(window, 2).count, range(50)))
    assert sum(granted) == 30


def test_less_than_we_count_remains_if_the_service_says_so_until_it_says(start: Start) -> None:
    window = start(10)
    take(window, 2)
    window.correct(remaining=3, reset_seconds=100)
    grant = take(window, 8)
    assert grant.count == 3
    assert 40 < grant.seconds_to_next <= 100


def test_a_window_of_which_the_service_says_that_nothing_remains_is_closed_until_it_says(start: Start) -> None:
    window = start(10, 0.01)
    take(window, 2)
    window.correct(remaining=0, reset_seconds=100)
    wait_until(lambda: take(window, 1).seconds_to_next < 99.9, within_seconds=10, what="the first two to leave")
    assert take(window, 1).count == 0
    assert 40 < take(window, 1).seconds_to_next <= 100


def test_a_count_of_the_service_without_what_is_on_its_way_frees_nothing(start: Start) -> None:
    window = start(10)
    take(window, 8)
    window.correct(remaining=9, reset_seconds=100)
    assert take(window, 10).count == 2


def test_without_redis_nothing_is_granted_and_nothing_refused() -> None:
    redis = SharedRedis("redis://127.0.0.1:1", timeout_seconds=0.05)
    assert RedisWindow(redis, "window:test", WindowLimit(1, 1)).take(1) is None
