"""Plays the story against the world that world.json describes, and reports what held.

``python -m dev.demo WORLD_JSON RESULT_JSON``; exits non-zero at the first thing that does not hold.
"""

import json
import sys
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import requests
from rich.console import Console
from rich.table import Table

from dev.demo.stage import Outcome, Stage, StepFailedError
from dev.demo.story import STORY
from dev.errors import LocalWorldError
from dev.partner_client import RefusedError


def main(world_file: Path, result_file: Path) -> int:
    """Play all steps; returns the exit code."""
    console = Console()
    stage, outcomes = Stage(world_file), list[Outcome]()
    failure: str | None = None
    for letter, title, play in STORY:
        outcome = Outcome(letter, title)
        outcomes.append(outcome)
        console.print(f"[bold]{letter}[/] {title}")
        try:
            play(stage, outcome)
        except (StepFailedError, RefusedError, LocalWorldError, requests.RequestException) as error:
            failure = f"{letter}, {title}: {error}"
        for sentence in outcome.held:
            console.print(f"  [green]✓[/] {sentence}", highlight=False)
        if failure:
            break
    steps = [asdict(outcome) for outcome in outcomes]
    result_file.write_text(json.dumps({"ok": failure is None, "failure": failure, "steps": steps}, indent=2) + "\n")
    console.print(_table(outcomes))
    if failure:
        console.print(f"[red]✗ {failure}[/]", highlight=False)
        return 1
    console.print(f"[green]Everything held.[/] Details: {result_file}", highlight=False)
    return 0


def _table(outcomes: list[Outcome]) -> Table:
    table = Table(title="What came out (exact amounts in the details)", show_lines=True)
    table.add_column("step", overflow="fold")
    table.add_column("ends as", no_wrap=True)
    table.add_column("in", justify="right")
    table.add_column("gas", justify="right", no_wrap=True)
    table.add_column("output and its split", justify="right", no_wrap=True)
    for outcome in outcomes:
        sweep = outcome.sweep or {}
        facts = [sweep.get("status", "-"), str(sweep.get("tokenCount", "-")), str(outcome.gas_used or "-")]
        table.add_row(f"{outcome.step}  {outcome.title}", *facts, _amounts(outcome))
    return table


def _amounts(outcome: Outcome) -> str:
    actual = (outcome.sweep or {}).get("feeAuthorization", {}).get("actualFees")
    if actual is None or outcome.output is None:
        return "-"
    named = {"gross": "grossOutput", "user": "userAmount", "partner": "partnerFee", "protocol": "protocolFee"}
    decimals, symbol = outcome.output["decimals"], outcome.output["symbol"]
    return "\n".join(f"{who} {Decimal(actual[name]).scaleb(-decimals):.6f} {symbol}" for who, name in named.items())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
