"""What a section of a benchmark measured: rows of a table, and targets that are met or missed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dev.world import VAR

FOLDER = VAR / "bench"


@dataclass(frozen=True)
class Target:
    """A figure and its bound."""

    name: str
    measured: float
    target: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        figures = f"measured {_number(self.measured)}, target {bound} {_number(self.target)}"
        return f"{self.name}: {figures}, {'met' if self.met else 'missed'}"

    def as_json(self) -> dict[str, Any]:
        bound = "atLeast" if self.at_least else "atMost"
        return {"name": self.name, "measured": self.measured, bound: self.target, "met": self.met}


@dataclass(frozen=True)
class Section:
    """A table with its targets; every row has the same columns."""

    name: str
    rows: Sequence[dict[str, Any]]
    targets: Sequence[Target]


def print_table(section: Section) -> None:
    table = Table(title=section.name, title_justify="left")
    for column in section.rows[0]:
        table.add_column(column, justify="left" if isinstance(section.rows[0][column], str) else "right")
    for row in section.rows:
        table.add_row(*(value if isinstance(value, str) else _number(value) for value in row.values()))
    Console().print(table)


def conclude(sections: Sequence[Section], name: str, **facts: Any) -> int:  # noqa: ANN401 - JSON
    """Write ``var/bench/NAME.json``, print a line for each target, and return the exit code: 1 if one is missed."""
    targets = [target for section in sections for target in section.targets]
    report = {
        "sections": [{"name": section.name, "rows": section.rows} for section in sections],
        "targets": [target.as_json() for target in targets],
        **facts,
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    for target in targets:
        print(target)
    return 0 if all(target.met for target in targets) else 1


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}".rstrip("0").rstrip(".")
