"""What is measured of builds: round trips, time, CPU, discovery, holdings, estimates, and the quality of routes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from lab.bench.build import cpu, discovery, estimates, holdings, latency, round_trips, routes
from lab.bench.report import Section
from lab.bench.service import Service


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Start the service in this process, and yield what to measure."""
    rooms = (round_trips, latency, cpu, discovery, holdings, estimates, routes)
    service = Service.start()
    yield [partial(room.measure, service) for room in rooms]
