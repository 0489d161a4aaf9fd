"""The time of the next check at a sweep on an EVM chain."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweeps.protocol.rail import SweepProgress, Verdict
from sweeps.rails.evm.follow.following import next_check
from tests.factories.sweeps import LOCAL

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEADLINE = NOW + timedelta(seconds=900)
INTERVAL_SECONDS = 3  # of the local chain


def look_at(*, has_run_out: bool = False, **facts: Any) -> datetime | None:
    """Return the time of the next check at a pending sweep, changed by the facts."""
    progress: dict[str, Any] = {
        "network": LOCAL,
        "is_executed": False,
        "flags": [],
        "deadline": DEADLINE,
        "now": NOW,
        "submitted_at": None,
        "shown_since": None,
        "is_searching": False,
        "is_cancelling": False,
    }
    return next_check(SweepProgress(**(progress | facts)), Verdict({}, has_run_out))


def delay_seconds(**facts: Any) -> float:
    """Return the seconds until that check, which is planned."""
    at = look_at(**facts)
    assert at is not None
    return (at - NOW).total_seconds()


def test_an_executed_sweep_waits_until_its_block_changes_something() -> None:
    assert look_at(is_executed=True) is None


def test_a_sweep_without_a_transaction_is_due_a_second_after_its_deadline() -> None:
    assert delay_seconds() == 901


@pytest.mark.parametrize(("awaited_seconds", "seconds"), [(0, 2), (60, 60), (10_000, 300)])
def test_a_receipt_is_awaited_with_growing_delays(awaited_seconds: int, seconds: int) -> None:
    assert delay_seconds(submitted_at=NOW - timedelta(seconds=awaited_seconds)) == seconds


@pytest.mark.parametrize(
    "facts",
    [
        {"is_executed": True, "flags": ["partial"]},
        {"flags": ["reorganised"]},
        {"is_searching": True},
        {"is_cancelling": True},
    ],
    ids=str,
)
def test_a_sweep_that_any_block_can_change_is_due_after_the_interval_of_the_chain(facts: dict[str, Any]) -> None:
    assert delay_seconds(**facts) == INTERVAL_SECONDS
    assert delay_seconds(**facts, submitted_at=NOW) == 2
    assert delay_seconds(**facts, submitted_at=NOW - timedelta(seconds=60)) == INTERVAL_SECONDS


@pytest.mark.parametrize(("interval_seconds", "seconds"), [(3, 3), (30, 20), (600, 20)])
def test_a_flagged_sweep_whose_block_is_not_final_is_checked_at_least_every_half_minute(
    change_chain: Callable[..., Chain], interval_seconds: int, seconds: int
) -> None:
    change_chain(finality=FinalityRule("safe", "finalized", interval_seconds, None))
    assert delay_seconds(is_executed=True, flags=["below_minimum"]) == seconds


def test_an_unexplained_nonce_is_due_soon_until_the_deadline_has_passed() -> None:
    assert delay_seconds(flags=["nonce_used"]) == INTERVAL_SECONDS
    assert delay_seconds(flags=["nonce_used"], deadline=NOW - timedelta(seconds=60)) == 60


@pytest.mark.parametrize(("passed_seconds", "seconds"), [(0, 2), (60, 60), (10_000, 300)])
def test_after_the_deadline_the_proof_is_awaited_with_growing_delays(passed_seconds: int, seconds: int) -> None:
    assert delay_seconds(deadline=NOW - timedelta(seconds=passed_seconds)) == seconds


def test_the_clock_of_the_chain_counts_as_well_as_the_servers() -> None:
    assert delay_seconds(has_run_out=True) == 2


def test_a_cancellation_can_change_nothing_after_the_deadline() -> None:
    facts: dict[str, Any] = {"is_cancelling": True, "deadline": NOW - timedelta(seconds=60)}
    assert delay_seconds(**facts) == INTERVAL_SECONDS, "the clock of the chain may be behind"
    assert delay_seconds(**facts, has_run_out=True) == 60


@pytest.mark.parametrize(("awaited_seconds", "seconds"), [(0, 1), (1, 1), (3, 3), (7, 3), (10, 8), (60, 8)])
def test_what_one_provider_shows_is_checked_soon_and_when_its_word_counts(awaited_seconds: int, seconds: int) -> None:
    since = NOW - timedelta(seconds=awaited_seconds)
    assert delay_seconds(submitted_at=since, shown_since=since) == seconds
