"""Lets providers lie to the service's own processes: ``python -m dev exec -- python -m lab.matrix``.

Prints a table and a line for each target, and writes both to ``var/bench/matrix.json``; exits with 1 if one is missed.
"""

import sys

from lab.bench.database import set_up
from lab.bench.report import conclude, print_table


def main() -> int:
    """Run all columns; returns the exit code."""
    set_up()
    from lab.bench.service import Service  # noqa: PLC0415 its models need django.setup()
    from lab.matrix import columns  # noqa: PLC0415 beside it

    section, wrong = columns.measure(Service.start())
    print_table(section)
    for sentence in wrong:
        print(sentence)
    return conclude([section], "matrix", wrong=wrong)


if __name__ == "__main__":
    sys.exit(main())
