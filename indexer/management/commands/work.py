"""``manage.py work``: does what is due, until it is stopped by SIGTERM or SIGINT."""

import signal
from threading import Event

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from indexer import figures
from indexer.jobs import runner
from sweepapi.monitoring import listener
from sweepapi.startup.needs import STORES, missing
from sweeps import probes


class Command(BaseCommand):
    """``work``."""

    help = "Do what is due until stopped. Several of these processes can run at the same time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--jobs", default="", help="the names of the jobs to do, comma-separated; by default all")

    def handle(self, *, jobs: str, **_options: object) -> None:
        """Run the loop, and serve /healthz, /readyz and /metrics under HEALTH_BIND."""
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        try:
            loop = runner([name for name in jobs.split(",") if name], stopping)
        except ValueError as error:
            raise CommandError(str(error)) from None
        problems = list(missing(sorted({*STORES, *(secret for job in loop.jobs for secret in job.secrets)})))
        if problems:
            raise CommandError(" ".join(problems))
        if settings.HEALTH_BIND:
            listener.start_alone(settings.HEALTH_BIND)
            probes.start(loop.jobs[0].name if len(loop.jobs) == 1 else "work")
            figures.start()
        loop.run()
