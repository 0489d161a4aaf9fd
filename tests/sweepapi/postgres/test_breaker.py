"""After a wait without an answer nothing is asked for a moment, and then one caller tries for all."""

from sweepapi.postgres.breaker import Breaker


def test_a_server_that_answers_is_asked_by_all() -> None:
    one = Breaker()
    assert [one.admits(deadline_seconds=1) for _ in range(3)] == [True] * 3


def test_a_silent_server_is_not_asked_during_the_pause() -> None:
    one = Breaker()
    one.silent()
    assert not one.admits(deadline_seconds=1)


def test_after_the_pause_one_caller_tries_while_the_others_are_refused() -> None:
    one = Breaker(pause_seconds=0)
    one.silent()
    assert [one.admits(deadline_seconds=60) for _ in range(3)] == [True, False, False]
    one.answered()
    assert [one.admits(deadline_seconds=60) for _ in range(3)] == [True] * 3


def test_after_a_try_without_an_answer_there_is_another() -> None:
    one = Breaker(pause_seconds=0)
    one.silent()
    assert one.admits(deadline_seconds=60)
    one.silent()
    assert one.admits(deadline_seconds=60)


def test_a_caller_that_never_returns_blocks_the_others_only_for_its_deadline() -> None:
    one = Breaker(pause_seconds=0)
    one.silent()
    assert [one.admits(deadline_seconds=0) for _ in range(2)] == [True, True]
