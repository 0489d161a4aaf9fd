"""A worker keeps its database connection from task to task, and replaces it when the server was restarted."""

from collections.abc import Callable

import pytest

from tests.resilience.databases import Database
from tests.resilience.engines import Engines, send, sessions

Run = Callable[[], None]


@pytest.fixture(scope="module")
def run_task(engines: Engines, database: Database, redis_url: str) -> Run:
    """Have a worker run a task that reads the database, and wait until it succeeded."""
    log = engines.start_worker({"REDIS_URL": redis_url, "DATABASE_URL": database.url})

    def run() -> None:
        ended = log.read_text().count(" succeeded in ")
        send(redis_url, "indexer.check_due")
        engines.wait_for(lambda: log.read_text().count(" succeeded in ") > ended, "the task's success")

    return run


def test_a_worker_keeps_its_connection_from_task_to_task(run_task: Run, database: Database) -> None:
    used = set[int]()
    for _ in range(3):
        run_task()
        used |= sessions(database.url)
    assert len(used) == 1


def test_a_worker_connects_again_after_a_restart_of_the_database(
    run_task: Run, engines: Engines, database: Database
) -> None:
    run_task()
    before = sessions(database.url)
    engines.stop_named("postgres")
    engines.start_again("postgres")
    run_task()
    assert len(sessions(database.url)) == 1
    assert sessions(database.url) != before
