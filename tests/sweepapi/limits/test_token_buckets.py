"""Token buckets admit what a bucket holds and is refilled with, in Redis and in memory, and nothing more."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.conf import settings
from redis import Redis

from sweepapi.limits import token_buckets
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.limits.token_buckets import Bucket, Level, LocalBuckets, RedisBuckets

HOUR_SECONDS = 3600


@pytest.fixture(params=["redis", "local"])
def buckets(request: pytest.FixtureRequest) -> RedisBuckets | LocalBuckets:
    if request.param == "local":
        return LocalBuckets()
    return RedisBuckets(SharedRedis(settings.REDIS_URL, timeout_seconds=10))


@pytest.fixture
def redis() -> Iterator[Redis]:
    with Redis.from_url(settings.REDIS_URL) as connected:
        yield connected


def take(buckets: RedisBuckets | LocalBuckets, taken: Sequence[Bucket], guards: Sequence[Bucket] = ()) -> list[Level]:
    levels = buckets.take(taken, guards)
    assert levels is not None
    return levels


def slow(capacity: int) -> Bucket:
    """Return a new bucket that no test waits for: a token takes an hour."""
    return Bucket(f"limit:test:{uuid4()}", "test", capacity, 1 / HOUR_SECONDS)


def test_a_bucket_gives_its_capacity_at_once_and_then_no_more(buckets: RedisBuckets | LocalBuckets) -> None:
    bucket = slow(3)
    levels = [level for _ in range(5) for level in take(buckets, [bucket])]
    assert [(level.is_granted, level.tokens) for level in levels] == [
        (True, 2),
        (True, 1),
        (True, 0),
        (False, 0),
        (False, 0),
    ]
    assert [level.seconds_to_token == 0 for level in levels] == [True, True, False, False, False]
    assert HOUR_SECONDS - 60 < levels[-1].seconds_to_token <= HOUR_SECONDS
    assert 3 * HOUR_SECONDS - 60 < levels[-1].seconds_to_full <= 3 * HOUR_SECONDS


def test_of_two_buckets_neither_loses_a_token_if_one_has_none(buckets: RedisBuckets | LocalBuckets) -> None:
    small, large = slow(1), slow(3)
    first = take(buckets, [small, large])
    refused = [take(buckets, [small, large]) for _ in range(5)][-1]
    assert [level.tokens for level in first] == [level.tokens for level in refused] == [0, 2]
    assert [level.seconds_to_token > 0 for level in refused] == [True, False]
    assert not any(level.is_granted for level in refused)


def test_a_guard_has_to_have_a_token_and_keeps_it(buckets: RedisBuckets | LocalBuckets) -> None:
    bucket, guard = slow(5), slow(1)
    for left in (4, 3):
        assert [(level.is_granted, level.tokens) for level in take(buckets, [bucket], [guard])] == [
            (True, left),
            (True, 1),
        ]
    take(buckets, [guard])
    levels = take(buckets, [bucket], [guard])
    assert [(level.is_granted, level.tokens) for level in levels] == [(False, 3), (False, 0)]
    assert take(buckets, [], [guard])[0].is_granted is False


def test_fifty_at_once_get_what_the_bucket_holds(buckets: RedisBuckets | LocalBuckets) -> None:
    bucket = slow(20)
    with ThreadPoolExecutor(50) as pool:
        granted = [levels[0].is_granted for levels in pool.map(lambda _: take(buckets, [bucket]), range(50))]
    assert sum(granted) == 20


def test_a_bucket_is_refilled_at_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory, whose clock the test sets; both keep the same number."""
    now = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    buckets, bucket = LocalBuckets(), Bucket("one", "test", 2, 10)
    granted_at = []
    for millis in range(0, 1000, 10):
        now[0] = millis * 1_000_000
        if take(buckets, [bucket])[0].is_granted:
            granted_at.append(millis)
    assert granted_at == [0, 10, 100, 200, 300, 400, 500, 600, 700, 800, 900]


def test_a_full_bucket_takes_no_memory(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = RedisBuckets(SharedRedis(settings.REDIS_URL, timeout_seconds=10))
    bucket = Bucket(f"limit:test:{uuid4()}", "test", 5, 1 / HOUR_SECONDS)
    take(shared, [bucket])
    assert HOUR_SECONDS - 60 < redis.ttl(bucket.key) <= HOUR_SECONDS + 1
    monkeypatch.setattr(token_buckets, "MAX_LOCAL_BUCKETS", 2)
    now = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    local = LocalBuckets()
    for number in range(100):
        now[0] = number * 10**9
        take(local, [Bucket(f"{number}", "test", 1, 10)])
    assert len(local._full_at) <= 2  # noqa: SLF001 what it keeps is the point


def test_a_clock_that_was_set_back_empties_a_bucket_and_does_not_close_it_for_longer(redis: Redis) -> None:
    shared = RedisBuckets(SharedRedis(settings.REDIS_URL, timeout_seconds=10))
    bucket = slow(2)
    redis.set(bucket.key, (int(time.time()) + 1000 * HOUR_SECONDS) * 1_000_000)
    [level] = take(shared, [bucket])
    assert (level.is_granted, level.seconds_to_token, level.seconds_to_full) == (False, HOUR_SECONDS, 2 * HOUR_SECONDS)


def test_a_bucket_that_was_lost_is_full(redis: Redis) -> None:
    shared = RedisBuckets(SharedRedis(settings.REDIS_URL, timeout_seconds=10))
    bucket = slow(1)
    take(shared, [bucket])
    redis.delete(bucket.key)
    redis.script_flush()
    assert take(shared, [bucket])[0].is_granted


def test_a_server_that_does_not_answer_grants_and_refuses_nothing() -> None:
    assert RedisBuckets(SharedRedis("redis://127.0.0.1:1", timeout_seconds=0.05)).take([slow(1)]) is None


@pytest.mark.parametrize("per_second", [1 / 86_400, 1e6, 1e12])
def test_a_bucket_of_any_rate_has_a_level(buckets: RedisBuckets | LocalBuckets, per_second: float) -> None:
    bucket = Bucket(f"limit:test:{uuid4()}", "test", 400_000, per_second)
    assert [level.tokens for level in take(buckets, [bucket])] == [399_999]


def test_a_limit_that_was_raised_holds_at_once(buckets: RedisBuckets | LocalBuckets) -> None:
    small = slow(2)
    for _ in range(2):
        take(buckets, [small])
    (level,) = take(buckets, [Bucket(small.key, small.name, 3, 0.1)])
    assert (level.is_granted, level.tokens) == (False, 0)
    assert level.seconds_to_token <= 10
    assert level.seconds_to_full <= 30


def test_a_bucket_whose_limit_was_raised_is_refilled_as_fast_as_it_says(buckets: RedisBuckets | LocalBuckets) -> None:
    small = slow(2)
    for _ in range(2):
        take(buckets, [small])
    raised = Bucket(small.key, small.name, 2, 1_000.0)
    assert not take(buckets, [raised])[0].is_granted
    assert any(take(buckets, [raised])[0].is_granted for _ in range(20_000))  # a token takes a millisecond
