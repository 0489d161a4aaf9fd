"""The summary of a run: what was found per seed, and how often each fault happened under which seeds."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dev.chaos.checker.findings import Kind
from dev.chaos.run import FOLDER, Result

MOST_SHOWN = 20


def show(results: Sequence[Result]) -> None:
    """Print the tables, and the first findings of each seed."""
    console = Console()
    console.print(_by_seed(results))
    console.print(_by_fault(results))
    for result in results:
        for finding in result.findings[:MOST_SHOWN]:
            console.print(
                f"seed {result.seed}, story {finding.story}, {finding.sweep}: {finding.kind}: {finding.sentence}"
            )
    console.print(f"Details: {FOLDER}/SEED.json, and the journal and logs in {FOLDER}/SEED", highlight=False)


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


def _by_fault(results: Sequence[Result]) -> Table:
    table = Table(title="Faults, how often they happened, and under which seeds")
    table.add_column("fault")
    table.add_column("times", justify="right")
    table.add_column("seeds")
    for name in sorted({name for result in results for name in result.faults}):
        seeds = [result for result in results if name in result.faults]
        times = sum(result.faults[name] for result in seeds)
        table.add_row(name, str(times), ", ".join(str(result.seed) for result in seeds))
    return table
