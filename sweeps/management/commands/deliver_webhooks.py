"""The process that delivers webhooks, until it is stopped by SIGTERM or SIGINT."""

import signal
from threading import Event

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS, connections

from partners.webhooks.deliverer import Deliverer
from sweepapi.monitoring import listener
from sweeps import probes
from sweeps.heartbeats import WEBHOOKS, Heart
from sweeps.status_objects import status_objects

# Its statements are short; one that gets no answer would hold up all deliveries.
DATABASE_DEADLINE_SECONDS = 2.0

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """``deliver_webhooks``."""

    help = "Deliver webhooks until stopped. Several of these processes can run at the same time."

    def handle(self, *_args: object, **_options: object) -> None:
        """Deliver, and serve /healthz, /readyz and /metrics under HEALTH_BIND."""
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]["deadline_seconds"] = DATABASE_DEADLINE_SECONDS
        if settings.HEALTH_BIND:
            listener.start_alone(settings.HEALTH_BIND)
            probes.start()
        log.info("webhooks_ready")
        Deliverer(status_objects).run(stopping, beat=Heart(WEBHOOKS).beat)
        log.info("webhooks_stopped")
