"""The command ``python -m lab.faults``: makes each fault in a copy of the project, and runs the test that finds it.

Exits with 1 if a test does not find its fault.
"""

import sys
from pathlib import Path

from lab.edited_copy import EditedCopy, TestsCannotRunError
from lab.faults.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "var" / "faults"


def main() -> int:
    """Print whether each fault is found; returns the exit code."""
    faulty = [fault.apply((ROOT / fault.file).read_text()) for fault in FAULTS]  # all of them, before any test runs
    copy = EditedCopy.of(ROOT, FOLDER / "copy")
    if failed := copy.failing_test(sorted({fault.test for fault in FAULTS})):
        raise TestsCannotRunError(f"{failed} fails without a fault")
    missed = 0
    for fault, source in zip(FAULTS, faulty, strict=True):
        with copy.with_source(fault.file, source):
            is_found = _is_found(copy, fault)
        missed += not is_found
        print(f"{fault.name}: {'found' if is_found else 'NOT FOUND'}\n    {fault.means}\n    {fault.test}", flush=True)
    print(f"faults found: measured {len(FAULTS) - missed}, target {len(FAULTS)}, {'missed' if missed else 'met'}")
    return 1 if missed else 0


def _is_found(copy: EditedCopy, fault: Fault) -> bool:
    """Whether the test fails; raises ``TestsCannotRunError`` if something else does, such as an import."""
    failed = copy.failing_test([fault.test])
    if failed is not None and failed.partition("[")[0] != fault.test:
        raise TestsCannotRunError(f"{fault.name}: {failed} instead of {fault.test}")
    return failed is not None


if __name__ == "__main__":
    sys.exit(main())
