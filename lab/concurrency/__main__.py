"""The command ``python -m lab.concurrency``: tries every mutant and writes ``var/concurrency/report.json``.

Exits with 1 if the races find too few, or a survivor has no reason in ``survivors.toml``.
"""

import json
import sys
import tomllib
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from lab.concurrency.campaign import Outcome, try_mutants
from lab.concurrency.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "var" / "concurrency"
REASONS = Path(__file__).with_name("survivors.toml")
MIN_FOUND_PERCENT = 95.0


def main() -> int:
    """Try the mutants and print the outcome of each; returns the exit code."""
    reasons = {(each["file"], each["old"]): each["reason"] for each in tomllib.loads(REASONS.read_text())["survivor"]}
    outcomes: list[Outcome] = []
    for outcome in try_mutants(ROOT, FOLDER, mutants_of(ROOT)):
        outcomes.append(outcome)
        reason = reasons.get(_change(outcome.mutant), "NOT LISTED")
        print(f"{outcome.mutant}\n    {outcome.found_by or f'survived: {reason}'}", flush=True)
    return _report(outcomes, reasons)


def _change(mutant: Mutant) -> tuple[str, str]:
    """Return what identifies a mutant although lines move."""
    return mutant.file, " ".join(mutant.old.split())


def _report(outcomes: list[Outcome], reasons: dict[tuple[str, str], str]) -> int:
    survivors = [outcome.mutant for outcome in outcomes if outcome.found_by is None]
    percent = 100 * (1 - len(survivors) / len(outcomes))
    FOLDER.mkdir(parents=True, exist_ok=True)
    facts = {"found_percent": percent, "outcomes": [asdict(outcome) for outcome in outcomes]}
    (FOLDER / "report.json").write_text(json.dumps(facts, indent=1) + "\n")
    for kind, count in sorted(Counter(outcome.mutant.kind for outcome in outcomes).items()):
        missed = sum(mutant.kind == kind for mutant in survivors)
        print(f"{kind}: {count - missed} of {count} found")
    reasoned = sum(_change(mutant) in reasons for mutant in survivors)
    print(f"survivors: {len(survivors)}, of which {reasoned} have a reason")
    is_met = percent >= MIN_FOUND_PERCENT
    print(f"concurrency mutants found: measured {percent:.1f} %, target at least {MIN_FOUND_PERCENT:.0f} %, ", end="")
    print("met" if is_met else "missed")
    return 0 if is_met and reasoned == len(survivors) else 1


if __name__ == "__main__":
    sys.exit(main())
