"""The loop has a job for everything that becomes due, and does those that its process was given."""

from threading import Event

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from pytest_django import Settings

from indexer import jobs


def periods() -> dict[str, float]:
    return {job.name: job.period_seconds for job in jobs.all_jobs()}


def test_sweeps_blocks_clocks_and_cancellations_are_looked_for_every_few_seconds() -> None:
    assert {periods()[name] for name in ("sweeps", "blocks", "clocks", "cancellations")} == {settings.DUE_SWEEP_SECONDS}


def test_the_rest_is_looked_for_as_often_as_it_changes() -> None:
    assert {name: periods()[name] for name in ("following", "numbering", "reconciliation", "signing", "books")} == {
        "following": 1.0,
        "numbering": 1.0,
        "reconciliation": 60.0,
        "signing": 60.0,
        "books": 600.0,
    }


def test_a_chain_is_not_followed_with_a_period_of_zero(settings: Settings) -> None:
    settings.FOLLOW_SECONDS = 0.0
    assert "following" not in periods()


def test_a_process_does_the_jobs_that_it_was_given_and_without_any_all() -> None:
    assert [job.name for job in jobs.runner(["signing", "webhooks"], Event()).jobs] == ["webhooks", "signing"]
    assert [job.name for job in jobs.runner([], Event()).jobs] == list(periods())


def test_an_unknown_job_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(CommandError, match=r"No such job: webhook\. The jobs are sweeps, .*webhooks"):
        call_command("work", jobs="sweeps,webhook")
