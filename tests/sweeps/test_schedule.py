"""When a sweep is looked at next."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from sweepapi.evm.chains import Finality
from sweeps import schedule

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("awaited_seconds", "delay_seconds"),
    [(0, 2), (1, 2), (2, 2), (4, 4), (60, 60), (299, 299), (10_000, 300), (-60, 2)],
)
def test_the_time_awaited_doubles_within_bounds(awaited_seconds: int, delay_seconds: int) -> None:
    since = NOW - timedelta(seconds=awaited_seconds)
    assert schedule.backed_off(NOW, since=since) == NOW + timedelta(seconds=delay_seconds)


def test_the_factor_is_a_setting(settings: Settings) -> None:
    settings.CHECK_BACKOFF_FACTOR = 3
    since = NOW - timedelta(seconds=10)
    assert schedule.backed_off(NOW, since=since) == NOW + timedelta(seconds=20)


def test_a_deadline_has_passed_a_second_after_it() -> None:
    assert schedule.after_deadline(1_769_860_800) == NOW + timedelta(seconds=1)


@pytest.mark.parametrize(("chains_interval", "seconds"), [(3, 3), (30, 20), (600, 20)])
def test_what_is_not_final_is_looked_at_at_least_every_half_minute(chains_interval: int, seconds: int) -> None:
    finality = Finality("safe", "finalized", chains_interval, None)
    assert schedule.recheck(NOW, finality) == NOW + timedelta(seconds=seconds)
