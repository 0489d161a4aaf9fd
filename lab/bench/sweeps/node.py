"""The node of the benchmarks' chain, as they start and control it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests

from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from lab.bench.sweeps.chain import BLOCK_SECONDS
from lab.bench.sweeps.template import Template

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Node:
    """A running node."""

    url: str

    @classmethod
    def start(cls, supervisor: Supervisor, template: Template) -> Self:
        """Start a node whose chain can execute copies of the template."""
        node = cls(f"http://127.0.0.1:{free_port()}")
        program = Program(
            name="node", argv=node.command(template, supervisor.folder), log=supervisor.folder / "node.log"
        )
        supervisor.start(program, ready=node.answers)
        return node

    def command(self, template: Template, folder: Path) -> list[str]:
        """Return the command that runs the node, which reads its facts from this folder."""
        facts = folder / "chain.json"
        facts.write_text(json.dumps({"receipt": template.receipt, "nonce": template.nonce}), encoding="utf-8")
        return [sys.executable, "-m", "lab.bench.sweeps.server", self.url.rpartition(":")[2], str(facts)]

    def execute(self, numbers: range, *, height: int) -> None:
        """Execute these copies in one block, which may be a future one."""
        self._control(execute=[numbers[0], numbers[-1], height])

    def finalize(self, height: int) -> None:
        """Make this block the final one."""
        self._control(final=height)

    def clear(self) -> None:
        """Make the chain as if it had executed nothing."""
        self._control(clear=True)

    @property
    def requests(self) -> int:
        """How many batches it answered."""
        return int(self._control()["requests"])

    @property
    def head(self) -> int:
        return int(self._control()["head"])

    @property
    def genesis(self) -> float:
        """When block 0 would have appeared; a block appears ``BLOCK_SECONDS`` after the one before it."""
        return float(self._control()["genesis"])

    def answers(self) -> bool:
        """Whether it has started."""
        try:
            return bool(self._control())
        except requests.ConnectionError:
            return False

    def _control(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        response = requests.post(f"{self.url}/control", json=request, timeout=TIMEOUT_SECONDS)
        response.raise_for_status()
        state: dict[str, Any] = response.json()
        return state


def appears_at(genesis: float, height: int) -> float:
    """Return when a block appears, in seconds since 1970."""
    return genesis + BLOCK_SECONDS * height
