"""What is measured of the API: the check of a key, reads and confirms, two providers beside one, and a crowd."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from lab.bench.api import crowd, key_check, providers, ratios
from lab.bench.api.scene import Scene
from lab.bench.report import Section
from lab.bench.service import Service


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section | Sequence[Section]]]]:
    """Serve the API for the block, and yield what to measure."""
    with Scene.started(Service.start()) as scene:
        yield [partial(room.measure, scene) for room in (key_check, ratios, providers, crowd)]
