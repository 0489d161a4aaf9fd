"""Tries mutants on several workbenches in parallel and gives each a verdict."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from queue import SimpleQueue

from lab.mutation.compiler import Build, Code
from lab.mutation.mutants import Mutant
from lab.mutation.targets import MUTATED
from lab.mutation.workbench import TestsHangError, Workbench


class Verdict(StrEnum):
    """How a mutant ended; `refused` and `identical` do not count in the score, and `hung` counts as killed."""

    REFUSED = "refused"  # does not compile
    IDENTICAL = "identical"  # compiles to the original's code, as tested or as deployed
    KILLED = "killed"
    HUNG = "hung"  # its tests did not finish
    SURVIVED = "survived"


@dataclass(frozen=True)
class Outcome:
    """The verdict on a mutant, and the test that killed it."""

    mutant: Mutant
    verdict: Verdict
    killer: str | None = None


@dataclass(frozen=True)
class Project:
    """The original; builds and codes by target."""

    sources: Mapping[str, bytes]
    tested: Mapping[str, Build]  # as the workbenches build
    tested_codes: Mapping[str, Code | None]
    deployed: Mapping[str, Build]  # as for real chains, fully optimized, which takes ten times as long
    deployed_codes: Mapping[str, Code | None]


def try_mutants(
    project: Project, mutants: Sequence[Mutant], benches: Sequence[Workbench], *, end: float
) -> Iterator[Outcome]:
    """Try mutants in order, one per bench at a time, and start none after `end` (in monotonic time)."""
    free: SimpleQueue[Workbench] = SimpleQueue()
    for bench in benches:
        free.put(bench)

    def attempt(mutant: Mutant) -> Outcome | None:
        if time.monotonic() > end:
            return None
        bench = free.get()
        try:
            return _try(project, mutant, bench)
        finally:
            free.put(bench)

    with ThreadPoolExecutor(len(benches)) as pool:
        yield from (outcome for outcome in pool.map(attempt, mutants) if outcome is not None)


def _try(project: Project, mutant: Mutant, bench: Workbench) -> Outcome:
    changed = {mutant.file: mutant.apply(project.sources[mutant.file])}
    verdict = Verdict.IDENTICAL
    for target in MUTATED[mutant.file]:
        code = bench.compiler.compile(project.tested[target], changed)
        if code is None:
            return Outcome(mutant, Verdict.REFUSED)
        if code == project.tested_codes[target]:
            continue
        try:
            with bench.deployed(target, code):
                killer = bench.failing_test()
        except TestsHangError:
            return Outcome(mutant, Verdict.HUNG)
        if killer is not None:
            return Outcome(mutant, Verdict.KILLED, killer)
        if bench.compiler.compile(project.deployed[target], changed) != project.deployed_codes[target]:
            verdict = Verdict.SURVIVED
    return Outcome(mutant, verdict)
