"""Each engine is killed, frozen, restarted, slow and refusing, some in pairs: the API answers, and work resumes."""

import pytest

from tests.resilience.engines import connect
from tests.resilience.world import THREADS, World

ANSWERED_SECONDS = 2
RESUMED_SECONDS = 5


def assert_resumed(world: World) -> None:
    assert world.seconds_until_served() < RESUMED_SECONDS
    assert world.seconds_until_looked() < RESUMED_SECONDS


@pytest.mark.parametrize(
    "fault",
    [
        "kill postgres",
        "freeze postgres",
        "restart postgres",
        "refuse postgres",
        "hang postgres",
        "freeze postgres and freeze redis",
        "kill postgres and kill redis",
        "kill worker and kill postgres",
        "freeze postgres and freeze worker",
    ],
)
def test_without_the_database_every_request_is_answered_503_in_time_and_then_work_resumes(
    world: World, fault: str
) -> None:
    assert world.serves()
    with world.fault(fault):
        answers = world.ask_often(3 * THREADS) + world.ask_often(THREADS)
    assert {(answer.status, answer.retry_after is None) for answer in answers} == {(503, False)}
    assert max(answer.seconds for answer in answers) < ANSWERED_SECONDS
    assert_resumed(world)


@pytest.mark.parametrize(
    "fault",
    [
        "kill redis",
        "freeze redis",
        "restart redis",
        "refuse redis",
        "hang redis",
        "slow redis",
        "slow postgres",
        "refuse provider-1",
        "hang provider-1",
        "refuse provider-1 and refuse provider-2",
        "hang provider-1 and hang provider-2",
        "kill worker",
        "freeze worker",
        "kill beat",
        "freeze beat",
        "freeze redis and hang provider-1",
        "kill redis and freeze worker",
        "kill redis and freeze beat",
        "freeze redis and freeze worker",
        "kill worker and kill redis",
    ],
)
def test_what_else_is_away_leaves_confirms_at_202_and_then_work_resumes(world: World, fault: str) -> None:
    assert world.serves()
    with world.fault(fault):
        asked, confirmed = world.ask(), world.confirm()
    world.rest()
    assert (asked.status, confirmed.status) == (200, 202)
    assert_resumed(world)


def test_a_worker_that_notices_that_redis_is_frozen_goes_on_when_it_thaws(world: World) -> None:
    log = world.engines.folder / "worker.log"
    failures = log.read_text().count("Cannot connect to ")
    with world.fault("freeze redis"):
        world.engines.wait_for(lambda: log.read_text().count("Cannot connect to ") > failures + 1, "the end of waiting")
    assert_resumed(world)


def test_beat_goes_on_sending_while_its_heartbeat_waits_for_the_database(world: World) -> None:
    log = world.engines.folder / "beat.log"
    lost = log.read_text().count("heartbeat_lost")
    waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%sweeps_heartbeat%'"
    with connect(world.database.url) as blocker, connect(world.database.url) as monitor:
        monitor.autocommit = True  # within a transaction, PostgreSQL shows the same activity each time
        blocker.execute("SELECT FROM sweeps_heartbeat WHERE name = 'beat' FOR UPDATE")
        world.engines.wait_for(lambda: monitor.execute(waiting).fetchone() is not None, "the heartbeat")
        sent = log.read_text().count("Sending due task")
        world.engines.wait_for(lambda: log.read_text().count("heartbeat_lost") > lost, "the end of its wait")
    meanwhile = log.read_text().split("heartbeat_lost")[: lost + 1]
    assert sum(part.count("Sending due task") for part in meanwhile) > sent


@pytest.mark.parametrize("fault", ["kill web", "freeze web", "restart web"])
def test_the_web_process_serves_again(world: World, fault: str) -> None:
    with world.fault(fault):
        pass
    assert_resumed(world)


@pytest.mark.parametrize("engine", ["postgres", "redis"])
def test_connections_that_a_failover_forgot_are_replaced(world: World, engine: str) -> None:
    world.seconds_until_served()  # a thread of the web may still trust a connection of the failover before
    world.links[engine].lose()
    assert world.seconds_until_served() < RESUMED_SECONDS
    assert world.seconds_until_looked() < RESUMED_SECONDS
