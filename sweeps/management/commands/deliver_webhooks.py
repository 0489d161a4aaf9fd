"""The process that delivers webhooks, until it is stopped by SIGTERM or SIGINT."""

import signal
from threading import Event

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from prometheus_client import start_http_server

from partners.webhooks.deliverer import Deliverer
from sweeps.status_objects import status_objects

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    """``deliver_webhooks``."""

    help = "Deliver webhooks until stopped. Several of these processes can run at the same time."

    def handle(self, *_args: object, **_options: object) -> None:
        """Serve the metrics under HEALTH_BIND, on every path, and deliver."""
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        if settings.HEALTH_BIND:
            host, _, port = settings.HEALTH_BIND.rpartition(":")
            start_http_server(int(port), host)
        log.info("webhooks_ready")
        Deliverer(status_objects).run(stopping)
        log.info("webhooks_stopped")
