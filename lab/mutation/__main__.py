"""The command ``python -m lab.mutation SLITHER_PYTHON``: mutates the contracts and runs their tests on each mutant.

Needs node on the PATH, the contracts' npm packages and the files their tests read. Exits with 1 if too many mutants
survive, and with 2 if the tests fail on the original.
"""

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from lab.mutation import operators, report
from lab.mutation.campaign import Outcome, Project, Verdict, try_mutants
from lab.mutation.mutants import Mutant, distinct, stratified
from lab.mutation.survivors import read_reasons
from lab.mutation.targets import MUTATED
from lab.mutation.workbench import BrokenProjectError, Workbench, builds_in, make_copy

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "var" / "mutants"
REASONS = ROOT / "contracts" / "mutation" / "survivors.toml"
SEED = 1
TRYING_SECONDS = 30 * 60  # the whole run stays well under an hour, even on a slow machine


def main(slither_python: str) -> int:
    """Try the mutants, and print and write the report; returns the exit code."""
    started = time.monotonic()
    try:
        outcomes, generated = _campaign(slither_python)
    except BrokenProjectError as error:
        print(error, file=sys.stderr)
        return 2
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = report.Run(
        outcomes=outcomes,
        generated=generated,
        seed=SEED,
        wall_seconds=time.monotonic() - started,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
    )
    report.write(run, FOLDER / "report.json")
    report.print_summary(run)
    return 0 if run.score_percent >= report.MIN_SCORE_PERCENT else 1


def _campaign(slither_python: str) -> tuple[list[Outcome], int]:
    """Return the outcomes of the mutants tried within the time limit, and how many mutants there are."""
    reasons, outcomes = read_reasons(REASONS), []
    first = Workbench(make_copy(ROOT, FOLDER / "0"))
    sources = {file: (first.contracts / file).read_bytes() for file in MUTATED}
    with ExitStack() as stack:
        stack.callback(first.compiler.close)
        mutants = stratified(_mutants(first, slither_python, sources), SEED)
        project = _project(first, sources)
        if failed := first.failing_test():
            raise BrokenProjectError(f"{failed} fails on the original")
        benches = [first, *(_add_workbench(stack, number) for number in range(1, os.cpu_count() or 1))]
        print(f"{len(mutants)} mutants, {len(benches)} at a time", flush=True)
        for outcome in try_mutants(project, mutants, benches, end=time.monotonic() + TRYING_SECONDS):
            outcomes.append(outcome)
            if outcome.verdict is Verdict.SURVIVED:
                report.print_survivor(outcome.mutant, sources[outcome.mutant.file], reasons)
    return outcomes, len(mutants)


def _mutants(bench: Workbench, slither_python: str, sources: Mapping[str, bytes]) -> list[Mutant]:
    """Return the mutants of slither-mutate and of our own operators."""
    script, result = Path(__file__).with_name("slither_patches.py"), FOLDER / "slither.json"
    bench.run([slither_python, str(script), str(result)], FOUNDRY_PROFILE="slither")
    theirs = [Mutant(**each) for each in json.loads(result.read_text()) if each["file"] in sources]
    ours = [mutant for file, source in sources.items() for mutant in operators.changes(file, source.decode())]
    return distinct([*theirs, *ours], sources)


def _project(bench: Workbench, sources: Mapping[str, bytes]) -> Project:
    tested, deployed = bench.build(), builds_in(ROOT / "contracts")
    return Project(
        sources=sources,
        tested=tested,
        tested_codes={target: bench.compiler.compile(build, {}) for target, build in tested.items()},
        deployed=deployed,
        deployed_codes={target: bench.compiler.compile(build, {}) for target, build in deployed.items()},
    )


def _add_workbench(stack: ExitStack, number: int) -> Workbench:
    folder = FOLDER / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FOLDER / "0", folder, symlinks=True)
    bench = Workbench(folder / "contracts")
    stack.callback(bench.compiler.close)
    return bench


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
