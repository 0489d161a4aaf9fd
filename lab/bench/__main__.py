"""Runs the benchmark of one section: ``python -m dev exec -- python -m lab.bench SECTION``.

Prints a table of each measure and a line for each target, and writes both to ``var/bench/SECTION.json``::

    {
      "sections": [{"name", "rows": [{column: value}]}],
      "targets": [{"name", "measured", "atMost" or "atLeast", "met"}]
    }

Exits with 1 if a target is missed. Ratios compare figures of the same run.
"""

import argparse
import sys
from importlib import import_module

from lab.bench.database import set_up
from lab.bench.report import Section, conclude, print_table

SECTIONS = ("api", "build", "deception", "indexer", "solana", "wallets", "web", "webhooks")


def main(section: str) -> int:
    """Run all measures of a section; returns the exit code."""
    set_up()
    found: list[Section] = []
    with import_module(f"lab.bench.{section}.measures").prepared() as measures:  # whose models need django.setup()
        for measure in measures:
            measured = measure()
            for one in [measured] if isinstance(measured, Section) else measured:
                found.append(one)
                print_table(one)
    return conclude(found, section)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m lab.bench")
    parser.add_argument("section", choices=SECTIONS)
    sys.exit(main(parser.parse_args().section))
