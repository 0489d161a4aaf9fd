"""Redis may go away while messages wait: the worker reconnects, and the rows still say what is due."""

import os
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone

from sweeps.models import Sweep
from sweeps.nudge import CHECK_TASK
from tests.factories.sweeps import SweepTransactionFactory
from tests.resilience.engines import Engines, send


@pytest.mark.django_db(transaction=True)
def test_a_worker_with_waiting_countdowns_survives_an_outage_and_nothing_is_forgotten(
    engines: Engines, redis_url: str
) -> None:
    sweep = SweepTransactionFactory.create(sweep__next_check_at=timezone.now() - timedelta(minutes=1)).sweep
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    log = engines.start_worker({"REDIS_URL": redis_url, "DATABASE_URL": database.geturl()})
    send(redis_url, CHECK_TASK, str(sweep.id), countdown=600)
    engines.wait_for(lambda: " received" in log.read_text(), "the countdown's arrival")

    engines.stop_named("redis")
    engines.wait_for(lambda: "Cannot connect to " in log.read_text(), "the attempt to reconnect")
    engines.start_again("redis")
    engines.wait_for(lambda: log.read_text().count("Connected to ") > 1, "the worker's return")

    send(redis_url, "indexer.check_due")  # what beat sends
    still_due = Sweep.objects.filter(id=sweep.id, next_check_at__lte=timezone.now())
    engines.wait_for(lambda: not still_due.exists(), "the look that the countdown was for")
