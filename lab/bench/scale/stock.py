"""The sweeps that the database holds: closed ones in any number, and open ones for what is measured."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Self
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from rich.console import Console
from rich.progress import track

from dev.engines.anvil import FINAL_DEPTH_BLOCKS
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import wait_until
from lab.bench.service import Service, reading_from
from lab.bench.sweeps import engine
from lab.bench.sweeps.copies import Changes, Copier, tables_of_a_sweep, without_triggers
from lab.bench.sweeps.node import Node
from lab.bench.sweeps.numbers import number_by_time
from lab.bench.sweeps.template import Template, build, confirm, execute
from sweeps.models import Sweep
from sweeps.wake import check_now

CHUNK = 50_000
FEW_DATABASE = "few"
CLOSE_SECONDS = 30
FREE_BYTES_KEPT = 5 * 2**30
_OLDEST = "interval '1 second' * (20000000 - n)"
# While millions are loaded; the files need not outlive the benchmark.
_SETTINGS = {"max_wal_size": "4GB", "checkpoint_timeout": "30min", "maintenance_work_mem": "512MB", "autovacuum": "off"}
_SECONDARY = """
SELECT indexrelid, indexrelid::regclass FROM pg_index
WHERE indrelid = ANY(%s::regclass[]) AND NOT indisprimary
"""


@dataclass
class Stock:
    """Copies of a sweep that is closed, of one that was only built, and of one whose hash no node knows."""

    service: Service
    closed: Copier
    built: Copier
    submitted: Copier
    loaded: int = 0
    copied: int = 0  # of the open ones
    bytes_by_relation: Mapping[str, int] = field(default_factory=dict)  # what the last load added
    last_load: int = 0  # how many sweeps it added

    @classmethod
    @contextmanager
    def started(cls, service: Service) -> Iterator[Self]:
        """Make the originals, and read from a chain that knows none of their copies."""
        closed = _closed(service)
        built = UUID(build(service)["sweepId"])
        template = Template.submitted(service)
        with connection.cursor() as cursor:
            for name, value in _SETTINGS.items():
                cursor.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            cursor.execute("SELECT pg_reload_conf()")
        with Supervisor(Path(os.environ["DEV_WORLD_FILE"]).parent / "node") as supervisor:
            node = Node.start(supervisor, template)
            node.finalize(node.head)
            with reading_from(node.url):
                yield cls(service, Copier.of(closed), Copier.of(built), Copier.of(template.sweep_id))

    def keep_as_few(self) -> None:
        """Keep a copy of the database as it is now, to compare with it later."""
        connection.close()
        with psycopg.connect(os.environ["DATABASE_URL"], dbname="template1", autocommit=True) as server:
            server.execute(f"CREATE DATABASE {FEW_DATABASE} TEMPLATE {connection.settings_dict['NAME']}")

    @contextmanager
    def few(self) -> Iterator[None]:
        """Let this process use the copy that was kept."""
        many = connections[DEFAULT_DB_ALIAS]
        connections[DEFAULT_DB_ALIAS] = self._few
        yield
        connections[DEFAULT_DB_ALIAS] = many

    @cached_property
    def _few(self) -> BaseDatabaseWrapper:
        kept = connections.create_connection(DEFAULT_DB_ALIAS)
        kept.settings_dict = {**kept.settings_dict, "NAME": FEW_DATABASE}
        return kept

    def load(self, sweeps: int) -> None:
        """Store closed sweeps until there are that many, without their indexes, which are built afterwards."""
        self._require_space(sweeps - self.loaded)
        before = _bytes_by_relation()
        changes = {
            ("sweeps_sweep", "created_at"): f"t.created_at - {_OLDEST}",
            ("ledger_journalentry", "posted_at"): f"t.posted_at - {_OLDEST}",
        }
        with _indexes_built_afterwards():
            chunks = range(self.loaded, sweeps, CHUNK)
            for start in track(chunks, f"storing {sweeps:,} sweeps", console=Console(stderr=True)):
                self.closed.copy(range(start + 1, min(start + CHUNK, sweeps) + 1), changes)
            with without_triggers():
                number_by_time()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")
        self.bytes_by_relation = {name: size - before.get(name, 0) for name, size in _bytes_by_relation().items()}
        self.last_load, self.loaded = sweeps - self.loaded, sweeps

    def copy(self, copier: Copier, count: int, changes: Changes) -> list[UUID]:
        """Store open sweeps, which a load leaves out; returns their ids."""
        numbers = range(self.copied + 1, self.copied + 1 + count)
        self.copied += count
        copier.copy(numbers, changes)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE sweeps_sweep")
        return list(copier.ids(numbers).values())

    def _require_space(self, more: int) -> None:
        """Raise RuntimeError unless the disk has room for that many, judged by the last load."""
        needed = sum(self.bytes_by_relation.values()) * more // max(self.last_load, 1)
        free = shutil.disk_usage(os.environ["DEV_WORLD_FILE"]).free - FREE_BYTES_KEPT
        if needed > free:
            raise RuntimeError(f"{more:,} sweeps need {needed / 2**30:.0f} GB, and {free / 2**30:.0f} GB may be used")


def _closed(service: Service) -> UUID:
    """Return a sweep that was executed in a block that is final."""
    built = build(service)
    receipt = execute(service, built)
    sweep_id = UUID(built["sweepId"])
    confirm(service, built["sweepId"], receipt["transactionHash"], HTTPStatus.OK)
    service.rpc.batch([("evm_mine", [])] * FINAL_DEPTH_BLOCKS)

    def is_closed() -> bool:
        check_now(sweep_id)
        engine.check_due()
        return not Sweep.objects.get(id=sweep_id).is_open

    wait_until(is_closed, within_seconds=CLOSE_SECONDS, what="the end of a sweep")
    return sweep_id


@contextmanager
def _indexes_built_afterwards() -> Iterator[None]:
    """Leave out all but primary keys while the block stores rows: PostgreSQL rebuilds invalid indexes on request."""
    tables = [model._meta.db_table for model in tables_of_a_sweep()]
    with connection.cursor() as cursor:
        cursor.execute(_SECONDARY, [tables])
        indexes = dict(cursor.fetchall())
        cursor.execute(
            "UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = ANY(%s)", [list(indexes)]
        )
        yield
        for name in track(indexes.values(), "building indexes", console=Console(stderr=True)):
            cursor.execute(f"REINDEX INDEX {name}")


def _bytes_by_relation() -> dict[str, int]:
    """Return the size of each table, with its long values, and of each index."""
    tables = [model._meta.db_table for model in tables_of_a_sweep()]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, pg_table_size(name::regclass) FROM unnest(%s::text[]) name UNION ALL "
            "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index "
            "WHERE indrelid = ANY(%s::regclass[])",
            [tables, tables],
        )
        return dict(cursor.fetchall())
