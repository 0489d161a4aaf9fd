"""Each engine is killed, frozen, restarted, slow and refusing, some in pairs: the API answers, and work resumes."""

import pytest

from tests.resilience.world import THREADS, World

ANSWERED_SECONDS = 2
RESUMED_SECONDS = 5


def assert_resumed(world: World) -> None:
    assert world.seconds_until_served() < RESUMED_SECONDS
    assert world.seconds_until_checked() < RESUMED_SECONDS


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
        "kill work and kill postgres",
        "freeze postgres and freeze work",
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
        "kill work",
        "freeze work",
        "kill worker",
        "freeze worker",
        "kill beat",
        "freeze beat",
        "freeze redis and hang provider-1",
        "kill redis and freeze work",
        "kill redis and freeze worker",
        "freeze redis and freeze beat",
        "kill work and kill redis",
    ],
)
def test_what_else_is_away_leaves_confirms_at_202_and_then_work_resumes(world: World, fault: str) -> None:
    assert world.serves()
    with world.fault(fault):
        asked, confirmed = world.ask(), world.confirm()
    world.rest()
    assert (asked.status, confirmed.status) == (200, 202)
    assert_resumed(world)


def test_work_goes_on_without_celery_and_without_redis(world: World) -> None:
    with world.fault("kill worker and kill beat and kill redis"):
        assert world.seconds_until_checked() < RESUMED_SECONDS


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
    assert world.seconds_until_checked() < RESUMED_SECONDS
