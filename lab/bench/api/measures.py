"""What is measured of the API: the check of a key, reads and confirms beside a bare view, and a crowd."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from lab.bench.api import crowd, key_check, ratios
from lab.bench.api.scene import Scene
from lab.bench.report import Section
from lab.bench.service import Service


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section | Sequence[Section]]]]:
    """Serve the API for the block, and yield what to measure."""
    with Scene.started(Service.start()) as scene:
        yield [partial(measure, scene) for measure in (key_check.measure, ratios.measure, crowd.measure)]
