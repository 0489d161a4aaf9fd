"""Redis may go away while messages wait: the worker reconnects, and the rows still say what is due."""

import os
from datetime import timedelta
from time import monotonic
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone
from kombu import Connection
from kombu.simple import SimpleQueue

from sweepapi.broker import Channel
from sweeps.models import Sweep
from sweeps.nudge import CHECK_TASK
from tests.factories.sweeps import SweepTransactionFactory
from tests.resilience.engines import Engines, send

ATTEMPTS = 4  # after which Celery's own pause would be eight seconds
LONGEST_PAUSE_SECONDS = 3


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
    engines.wait_for(lambda: log.read_text().count("Cannot connect to ") == ATTEMPTS, "attempts to reconnect")
    engines.start_again("redis")
    returned = monotonic()
    engines.wait_for(lambda: log.read_text().count("Connected to ") > 1, "the worker's return")
    assert monotonic() - returned < LONGEST_PAUSE_SECONDS

    send(redis_url, "indexer.check_due")  # what beat sends
    still_due = Sweep.objects.filter(id=sweep.id, next_check_at__lte=timezone.now())
    engines.wait_for(lambda: not still_due.exists(), "the look that the countdown was for")


def test_a_message_that_could_not_be_acknowledged_no_longer_counts_against_the_prefetch_limit(
    engines: Engines, redis_url: str
) -> None:
    with Connection(redis_url, transport_options={"socket_timeout": 0.1}) as broker, broker.channel() as channel:
        assert isinstance(channel, Channel)
        channel.basic_qos(0, 1, False)  # noqa: FBT003 kombu's signature
        with SimpleQueue(channel, "held") as queue:
            queue.put("a message")
            message = queue.get()
            assert not channel.qos.can_consume()
            engines.freeze("redis")
            with pytest.raises(broker.connection_errors):
                message.ack()
            engines.thaw("redis")
            assert channel.qos.can_consume()
