"""Runs every section of the benchmark of the worker: ``python -m dev exec -- python -m dev.bench_indexer RESULT_JSON``.

``SWEEPS`` sets how many sweeps wait for their receipts, 10,000 by default; the targets are for that many. Exits with 1
if a target is missed.
"""

import os
import sys
from functools import partial
from pathlib import Path

from rich.console import Console

from dev.bench.report import Section, conclude, print_table
from dev.bench.service import Service

SWEEPS = 10_000


def main(result_file: Path) -> int:
    """Run all sections; returns the exit code."""
    console, service = Console(), Service.start()
    from dev.bench_indexer import finality, messages, open_loop, throughput  # noqa: PLC0415 - models need django.setup()
    from dev.bench_indexer.bench import Bench  # noqa: PLC0415 - as above

    sweeps = int(os.environ.get("SWEEPS", SWEEPS))
    sections: list[Section] = []
    with Bench.started(service) as bench:
        measures = (partial(throughput.measure, sweeps=sweeps), open_loop.measure, finality.measure, messages.measure)
        for measure in measures:
            sections.append(measure(bench))
            print_table(console, sections[-1])
    return conclude(sections, result_file)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
