"""Runs every section of the benchmark of builds: ``python -m dev exec -- python -m dev.bench RESULT_JSON``.

Prints a table of each and all targets, and writes both as JSON::

    {
      "sections": [{"name", "rows": [{column: value}]}],
      "targets": [{"name", "measured", "atMost" or "atLeast", "met"}]
    }

Exits with 1 if a target is missed. Ratios compare figures of the same run.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from dev.bench import cpu, discovery, estimates, latency, round_trips, routes
from dev.bench.report import Section, conclude, print_table
from dev.bench.service import Service

SECTIONS: tuple[Callable[[Service], Section], ...] = (
    round_trips.measure,
    latency.measure,
    cpu.measure,
    discovery.measure,
    estimates.measure,
    routes.measure,
)


def main(result_file: Path) -> int:
    """Run all sections; returns the exit code."""
    console, service = Console(), Service.start()
    sections: list[Section] = []
    for measure in SECTIONS:
        sections.append(measure(service))
        print_table(console, sections[-1])
    return conclude(sections, result_file)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
