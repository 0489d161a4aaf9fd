"""A task whose process is killed runs again, for the same request."""

import json
import os
from pathlib import Path
from signal import SIGKILL
from typing import Any
from uuid import uuid4

import pytest
from structlog.contextvars import bound_contextvars

from sweeps.wake import CHECK_TASK
from tests.resilience.databases import Database
from tests.resilience.engines import Engines, connect, send
from tests.resilience.observed import processes_of

WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def log(engines: Engines, database: Database, redis_url: str) -> Path:
    """The log of a worker with one process in its pool."""
    return engines.start_worker({"REDIS_URL": redis_url, "DATABASE_URL": database.url})


def entries(log: Path) -> list[dict[str, Any]]:
    """Return the complete lines of the log."""
    lines = [line for line in log.read_text().splitlines(keepends=True) if line.startswith("{") and line[-1] == "\n"]
    return [json.loads(line) for line in lines]


def outcomes(log: Path) -> list[tuple[str, str | None]]:
    """Return how the runs of the task ended, and for which request they were."""
    runs = [entry for entry in entries(log) if entry["event"] == "task" and entry["name"] == CHECK_TASK]
    return [(run["outcome"], run.get("request_id")) for run in runs]


def test_a_task_whose_process_is_killed_is_run_again_for_the_same_request(
    log: Path, engines: Engines, database: Database, redis_url: str
) -> None:
    with connect(database.url) as blocker, connect(database.url) as monitor:
        monitor.autocommit = True  # within a transaction, PostgreSQL shows the same activity each time
        blocker.execute("LOCK TABLE sweeps_sweep IN ACCESS EXCLUSIVE MODE")
        with bound_contextvars(request_id="find-me"):
            send(redis_url, CHECK_TASK, str(uuid4()))
        engines.wait_for(lambda: monitor.execute(WAITING).fetchone() is not None, "the task's first statement")
        _, *pool = processes_of(engines, "worker")
        for pid in pool:
            os.kill(pid, SIGKILL)
    engines.wait_for(lambda: bool(outcomes(log)), "the second run")
    assert outcomes(log) == [("succeeded", "find-me")]
