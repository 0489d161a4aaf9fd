"""The report of a mutation run: a table, the survivors with their reasons, and the score."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.mutation.campaign import Outcome, Verdict
from lab.mutation.mutants import Mutant
from lab.mutation.survivors import Change

MIN_SCORE_PERCENT = 95.0
_COLUMNS = (*Verdict, "score")


@dataclass(frozen=True)
class Run:
    """The outcomes, how many mutants there are in total, and the time used."""

    outcomes: Sequence[Outcome]
    generated: int
    seed: int
    wall_seconds: float
    cpu_seconds: float

    @property
    def score_percent(self) -> float:
        return score_percent(self.outcomes)


def score_percent(outcomes: Sequence[Outcome]) -> float:
    """Return the share of killed among the mutants whose code differs; survivors with a reason count as survivors."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    killed = counts[Verdict.KILLED] + counts[Verdict.HUNG]
    return 100 * killed / max(killed + counts[Verdict.SURVIVED], 1)


def print_survivor(mutant: Mutant, source: bytes, reasons: Mapping[Change, str]) -> None:
    """Print a survivor with its reason, or with the function to list it under."""
    change = Change.of(mutant, source)
    print(f"survived: {mutant}\n    {reasons.get(change, f'NOT LISTED, in {change.function}')}", flush=True)


def print_summary(run: Run) -> None:
    _print_table(run.outcomes)
    print(f"\nseed {run.seed}: {len(run.outcomes)} of {run.generated} mutants tried", end=" ")
    print(f"in {run.wall_seconds / 60:.0f} minutes, {run.cpu_seconds / max(len(run.outcomes), 1):.1f} s of CPU each")
    result = "reached" if run.score_percent >= MIN_SCORE_PERCENT else "MISSED"
    print(f"mutation score {run.score_percent:.1f} %, at least {MIN_SCORE_PERCENT:.0f} %: {result}")


def _print_table(outcomes: Sequence[Outcome]) -> None:
    print(f"\n{'':40}" + "".join(f"{name:>11}" for name in _COLUMNS))
    for file in sorted({outcome.mutant.file for outcome in outcomes}):
        _print_row(file, [outcome for outcome in outcomes if outcome.mutant.file == file])
    _print_row("all", outcomes)


def _print_row(name: str, outcomes: Sequence[Outcome]) -> None:
    counts = Counter(outcome.verdict for outcome in outcomes)
    print(f"{name:40}" + "".join(f"{counts[verdict]:11}" for verdict in Verdict) + f"{score_percent(outcomes):11.1f}")


def write(run: Run, path: Path) -> None:
    """Write the run as JSON, with every mutant's verdict and the test that killed it."""
    facts = {**asdict(run), "score_percent": run.score_percent}
    path.write_text(json.dumps(facts, indent=1) + "\n")
