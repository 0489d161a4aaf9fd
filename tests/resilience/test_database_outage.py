"""PostgreSQL breaks connections: no request waits for it, and the first one after its return succeeds."""

from concurrent.futures import ThreadPoolExecutor

from tests.resilience.engines import STEP_SECONDS
from tests.resilience.world import SLOW_SECONDS, THREADS, World

LONGEST_ANSWER_SECONDS = 1  # shorter than any timeout
LONGEST_RETURN_SECONDS = 2


def test_the_first_requests_after_a_restart_succeed_however_many_connections_idle(world: World) -> None:
    world.links["postgres"].delay(SLOW_SECONDS)  # so that every thread answers one
    assert {answer.status for answer in world.ask_often(THREADS)} == {200}
    world.links["postgres"].work()
    with world.fault("restart postgres"):
        pass
    answers = world.ask_often(THREADS)
    assert [answer.status for answer in answers] == [200] * THREADS
    assert max(answer.seconds for answer in answers) < LONGEST_RETURN_SECONDS


def test_requests_whose_connections_break_are_answered_at_once(world: World) -> None:
    link = world.links["postgres"]
    with ThreadPoolExecutor(THREADS) as clients:
        link.hang()
        asked = [clients.submit(world.ask) for _ in range(THREADS)]
        world.engines.wait_for(lambda: link.held >= THREADS, "a query of every thread")
        link.refuse()
        answers = [request.result(timeout=STEP_SECONDS) for request in asked]
    link.work()
    assert {answer.status for answer in answers} == {503}
    assert max(answer.seconds for answer in answers) < LONGEST_ANSWER_SECONDS
