"""Runs every section of the benchmark of the API: ``python -m dev exec -- python -m dev.bench_api RESULT_JSON``.

Exits with 1 if a target is missed. Ratios compare figures of the same run.
"""

import sys
from pathlib import Path

from rich.console import Console

from dev.bench.report import Section, conclude, print_table
from dev.bench.service import Service


def main(result_file: Path) -> int:
    """Run all sections; returns the exit code."""
    console, service = Console(), Service.start()
    from dev.bench_api import crowd, key_check, ratios  # noqa: PLC0415 - models need django.setup()
    from dev.bench_api.scene import Scene  # noqa: PLC0415 - as above

    sections: list[Section] = []
    with Scene.started(service) as scene:
        for measure in (key_check.measure, ratios.measure, crowd.measure):
            measured = measure(scene)
            for section in [measured] if isinstance(measured, Section) else measured:
                sections.append(section)
                print_table(console, section)
    return conclude(sections, result_file)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
