"""What the sections share: the database, the chain, and the sweeps that were copied so far."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from django.db import connection

from dev.chain.chains_file import CHAIN
from dev.processes.supervisor import Supervisor
from lab.bench.service import Service
from lab.bench.sweeps.copies import Copier
from lab.bench.sweeps.node import Node
from lab.bench.sweeps.template import Template
from sweeps.models import Sweep, SweepStatus, WatchedBlock

SWEEPS_IN_A_BLOCK = 100  # as many as 50 a second make in two seconds
RECHECK_SECONDS = 30  # of Ethereum in config/chains.toml; the local chain's suits tests


@dataclass
class Bench:
    """Sweeps that were reported and not checked yet, as many as a section needs."""

    copier: Copier
    supervisor: Supervisor
    node: Node
    copied: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)  # of the worker's processes

    @classmethod
    @contextmanager
    def started(cls, service: Service) -> Iterator[Self]:
        """Report one sweep through the API, and start the chain that executes copies of it."""
        template = Template.submitted(service)
        with Supervisor(Path(os.environ["DEV_WORLD_FILE"]).parent / "bench") as supervisor:
            node = Node.start(supervisor, template)
            chains = Path(os.environ["CHAINS_FILE"]).read_text(encoding="utf-8")
            chains_file = supervisor.folder / "chains.toml"
            chains_file.write_text(_with_recheck_of_ethereum(chains), encoding="utf-8")
            environment = {
                f"RPC_URLS_{CHAIN.upper()}": node.url,
                "CHAINS_FILE": str(chains_file),
                "LOG_LEVEL": "INFO",
                "DATABASE_CONNECTION_MAX_AGE_SECONDS": "0",  # the worker sets it itself
            }
            yield cls(Copier.of(template.sweep_id), supervisor, node, environment=environment)

    def copy(self, count: int, *, due: bool) -> range:
        """Store that many sweeps, due now or in a day; returns their numbers."""
        numbers = range(self.copied + 1, self.copied + 1 + count)
        self.copied += count
        changes = {
            ("sweeps_sweep", "deadline"): "now() + interval '1 day'",
            ("sweeps_sweep", "next_check_at"): "now() - interval '1 minute'" if due else "now() + interval '1 day'",
        }
        self.copier.copy(numbers, changes)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        return numbers

    def execute(self, numbers: range) -> int:
        """Execute these sweeps in the newest blocks; returns the height of the lowest."""
        blocks = [numbers[start : start + SWEEPS_IN_A_BLOCK] for start in range(0, len(numbers), SWEEPS_IN_A_BLOCK)]
        lowest = self.node.head - len(blocks) + 1
        for height, block in enumerate(blocks, start=lowest):
            self.node.execute(block, height=height)
        return lowest

    def clear(self) -> None:
        """Forget all copies, also on the chain."""
        self.copier.delete_copies()
        WatchedBlock.objects.all().delete()
        self.node.clear()
        self.put_off()

    def put_off(self) -> None:
        """Let no sweep and no block be due for a day, and release those that a stopped worker held."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE sweeps_sweep SET next_check_at = now() + interval '1 day', lease_token = NULL, "
                "lease_until = NULL WHERE next_check_at IS NOT NULL"
            )
            cursor.execute("UPDATE sweeps_watchedblock SET due_at = now() + interval '1 day'")

    def completed(self, numbers: range) -> int:
        """Return how many of these are completed."""
        first_and_last = self.copier.ids([numbers[0], numbers[-1]]).values()  # ids are in the order of numbers
        return Sweep.objects.filter(id__range=first_and_last, status=SweepStatus.COMPLETED).count()


def _with_recheck_of_ethereum(chains: str) -> str:
    line = "recheck_seconds = 3\n"
    if line not in chains:
        raise RuntimeError("the chains file of the local chain has no recheck_seconds")
    return chains.replace(line, f"recheck_seconds = {RECHECK_SECONDS}\n")
