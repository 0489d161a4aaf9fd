"""Redis may go away: the loop needs none, and the rows say what is due when Celery has it again."""

import os
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone

from sweeps.models import Sweep
from tests.factories.sweeps import SweepTransactionFactory
from tests.resilience.engines import Engines, send


@pytest.mark.django_db(transaction=True)
def test_what_is_due_is_checked_while_redis_is_away_and_celery_takes_messages_once_it_is_back(
    engines: Engines, redis_url: str
) -> None:
    sweep = SweepTransactionFactory.create(sweep__next_check_at=timezone.now() + timedelta(hours=1)).sweep
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    environment = {"REDIS_URL": redis_url, "DATABASE_URL": database.geturl()}
    engines.start_worker(environment)
    engines.start_loop(environment, jobs="sweeps")
    engines.stop_named("redis")
    checked_after_becoming_due(engines, sweep, "the loop's check without Redis")

    engines.stop_named("work")
    engines.start_again("redis")
    send(redis_url, "indexer.check_due")  # what beat sends
    checked_after_becoming_due(engines, sweep, "Celery's check")


def checked_after_becoming_due(engines: Engines, sweep: Sweep, what: str) -> None:
    Sweep.objects.filter(id=sweep.id).update(next_check_at=timezone.now() - timedelta(minutes=1))
    engines.wait_for(lambda: not Sweep.objects.filter(id=sweep.id, next_check_at__lte=timezone.now()).exists(), what)
