"""What is measured of the worker: how fast it settles, follows and closes sweeps, and what a message costs.

``SWEEPS`` sets how many sweeps wait for their receipts, 10,000 by default; the targets are for that many.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from lab.bench.indexer import finality, messages, open_loop, throughput
from lab.bench.indexer.bench import Bench
from lab.bench.report import Section
from lab.bench.service import Service

SWEEPS = 10_000


@contextmanager
def prepared() -> Iterator[Sequence[Callable[[], Section]]]:
    """Prepare a chain and a database for the block, and yield what to measure."""
    sweeps = int(os.environ.get("SWEEPS", SWEEPS))
    with Bench.started(Service.start()) as bench:
        yield [
            partial(throughput.measure, bench, sweeps=sweeps),
            *(partial(room.measure, bench) for room in (open_loop, finality, messages)),
        ]
