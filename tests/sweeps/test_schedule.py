"""The delay between two checks of a sweep grows."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from sweeps import schedule

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("awaited_seconds", "delay_seconds"),
    [(0, 2), (1, 2), (2, 2), (4, 4), (60, 60), (299, 299), (10_000, 300), (-60, 2)],
)
def test_the_delay_grows_with_the_time_awaited_within_bounds(awaited_seconds: int, delay_seconds: int) -> None:
    since = NOW - timedelta(seconds=awaited_seconds)
    assert schedule.backed_off(NOW, since=since) == NOW + timedelta(seconds=delay_seconds)


def test_a_hash_without_a_receipt_is_looked_up_again_after_the_first_delay(settings: Settings) -> None:
    settings.FIRST_CHECK_SECONDS = 7
    assert schedule.first_check(NOW) == NOW + timedelta(seconds=7)


def test_the_factor_is_a_setting(settings: Settings) -> None:
    settings.CHECK_BACKOFF_FACTOR = 3
    since = NOW - timedelta(seconds=10)
    assert schedule.backed_off(NOW, since=since) == NOW + timedelta(seconds=20)
