"""The summary of a run: what was found per seed, and how often each fault happened under which seeds."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.chaos.checker.findings import Kind
from lab.chaos.run import FOLDER, Result

MOST_SHOWN = 20
SUMMARY = FOLDER / "summary.json"


def show(results: Sequence[Result], seconds: float) -> None:
    """Print the tables and the first findings of each seed, and write the figures to a file."""
    summary = _summary(results, seconds)
    SUMMARY.write_text(json.dumps(summary, indent=2) + "\n")
    console = Console(width=120)
    console.print(_by_seed(results))
    console.print(_by_fault(summary["faults"]))
    for result in results:
        for finding in result.findings[:MOST_SHOWN]:
            console.print(
                f"seed {result.seed}, story {finding.story}, {finding.sweep}: {finding.kind}: {finding.sentence}"
            )
    found = ", ".join(f"{count} {kind}" for kind, count in summary["findings"].items())
    console.print(
        f"{summary['sweeps']} sweeps in {seconds:.0f} s, {summary['secondsPer1000Sweeps']:.0f} s a thousand: {found}"
    )
    console.print(f"Figures: {SUMMARY}; details: {FOLDER}/SEED.json, and the journal and logs in {FOLDER}/SEED")


def _summary(results: Sequence[Result], seconds: float) -> dict[str, Any]:
    sweeps = sum(result.sweeps for result in results)
    names = sorted({name for result in results for name in result.faults})
    return {
        "seeds": [result.seed for result in results],
        "sweeps": sweeps,
        "actions": sum(result.actions for result in results),
        "seconds": round(seconds),
        "secondsPer1000Sweeps": round(1000 * seconds / sweeps),
        "findings": {kind.value: sum(result.count(kind) for result in results) for kind in Kind},
        "faults": {name: {str(one.seed): one.faults[name] for one in results if name in one.faults} for name in names},
    }


def _by_seed(results: Sequence[Result]) -> Table:
    table = Table(title="Findings by seed")
    for column in ("seed", "sweeps", "actions", "faults", *Kind, "start s", "drive s", "rest s"):
        table.add_column(column, justify="right")
    for result in results:
        counts = [str(result.count(kind)) for kind in Kind]
        seconds = [f"{result.seconds[name]:.0f}" for name in ("start", "drive", "rest")]
        happened = str(sum(result.faults.values()))
        table.add_row(str(result.seed), str(result.sweeps), str(result.actions), happened, *counts, *seconds)
    return table


def _by_fault(faults: dict[str, dict[str, int]]) -> Table:
    table = Table(title="Faults, how often they happened, and under which seeds")
    table.add_column("fault")
    table.add_column("times", justify="right")
    table.add_column("seeds")
    for name, by_seed in faults.items():
        table.add_row(name, str(sum(by_seed.values())), ", ".join(by_seed))
    return table
