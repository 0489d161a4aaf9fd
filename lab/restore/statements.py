"""The statements that a partner saves in the rehearsal, and checks with the script that it has from us."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dev.demo.context import Context, StepFailedError
from ledger.statements.month import Month

if TYPE_CHECKING:
    from sweepapi_client.types import Statement


@dataclass
class Statements:
    """A folder with one file for each statement that was saved, and with the published keys."""

    folder: Path
    context: Context
    run: Callable[..., subprocess.CompletedProcess[str]]  # Python, with the service's environment
    saved: dict[str, Statement] = field(default_factory=dict)  # by the name of the file

    def sign(self, month: Month) -> None:
        """Have a month end, and be signed."""
        done = self.run("-m", "lab.restore.signing", str(month))
        if done.returncode:
            raise StepFailedError(f"the month was not signed: {done.stderr}")

    def save(self, name: str, month: Month) -> Statement:
        """Download the statement of a month; it has one page."""
        self.folder.mkdir(exist_ok=True)
        statement = self.context.ours.statement(str(month))
        self._file(name).write_text(json.dumps(statement))
        self._file("jwks").write_text(json.dumps(self.context.ours.proof_keys()))
        self.saved[name] = statement
        return statement

    def check(self, name: str, *, former: str | None = None) -> str:
        """Check a saved statement without the service, also against the chain; returns what the script says.

        Raises StepFailedError if it is refused.
        """
        chain = self.saved[name]["records"][0]["network"]
        named = {
            "rpc": self.context.rpc.url,
            "contract": self.context.contracts["v5"],
            "contract-v4": self.context.contracts["v4"],
        }
        arguments = [f"--{option}={chain}={value}" for option, value in named.items()]
        if former is not None:
            arguments.append(f"--former={self._file(former)}")
        script = "examples/verify_statement.py"
        done = self.run(script, str(self._file(name)), f"--keys={self._file('jwks')}", *arguments)
        if done.returncode:
            raise StepFailedError(f"the statement {name!r} was refused: {done.stdout}{done.stderr}")
        return done.stdout

    def era(self, name: str) -> str:
        """Return the era that a saved statement names."""
        origin: str = self.saved[name]["checkpoint"].partition("\n")[0]
        return origin.rpartition("/")[2]

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"
