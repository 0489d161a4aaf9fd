"""Runs the demo's steps against the world that world.json describes, and reports every check.

``python -m dev.demo WORLD_JSON RESULT_JSON``; exits non-zero at the first check that fails.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import requests
from rich.box import SIMPLE
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from dev.demo.context import Context, StepFailedError, StepResult
from dev.demo.steps import STEPS
from dev.processes.errors import LocalWorldError
from sweepapi_client import NoAnswerError, SweepApiError

WIDTH = 80  # columns, which every terminal and page shows


def main(world_file: Path, result_file: Path) -> int:
    """Run all steps; returns the exit code."""
    console = Console(width=WIDTH, highlight=False)
    context, results = Context(world_file), list[StepResult]()
    failure: str | None = None
    for letter, title, run in STEPS:
        result = StepResult(letter, title)
        results.append(result)
        console.print(f"[bold]{letter}[/] {title}")
        try:
            run(context, result)
        except (StepFailedError, SweepApiError, NoAnswerError, LocalWorldError, requests.RequestException) as error:
            failure = f"{letter}, {title}: {error}"
        for sentence in result.passed:
            console.print(Padding(f"[green]✓[/] {sentence}", (0, 0, 0, 2)))
        if failure:
            break
    steps = [asdict(result) for result in results]
    result_file.write_text(json.dumps({"ok": failure is None, "failure": failure, "steps": steps}, indent=2) + "\n")
    console.print(_table(results))
    if failure:
        console.print(f"[red]✗ {failure}[/]")
        return 1
    console.print(f"[green]Every check passed.[/] Details: {result_file}", soft_wrap=True)
    return 0


def _table(results: list[StepResult]) -> Table:
    table = Table("step", "status", box=SIMPLE, pad_edge=False)
    table.add_column("tokens", justify="right")
    table.add_column("gross output", justify="right")
    for result in results:
        sweep = result.sweep or {}
        table.add_row(f"{result.step}  {result.title}", sweep.get("status", "-"), _tokens(sweep), _gross(result))
    return table


def _tokens(sweep: Mapping[str, Any]) -> str:
    count, skipped = sweep.get("tokenCount"), sweep.get("skippedCount")
    if count is None:
        return "-"
    return f"{count - skipped} of {count}" if skipped else str(count)


def _gross(result: StepResult) -> str:
    sweep = result.sweep or {}
    actual = sweep.get("fees", sweep.get("feeAuthorization", {})).get("actualFees")
    if actual is None or result.output is None:
        return "-"
    decimals, symbol = result.output["decimals"], result.output["symbol"]
    return f"{Decimal(actual['grossOutput']).scaleb(-decimals):.6f} {symbol}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
