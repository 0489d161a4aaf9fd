"""Each run of a task leaves one line, with the id of the request that caused it, as have its retries."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from celery import Task, current_app
from celery.app.trace import build_tracer
from structlog.contextvars import bound_contextvars, get_contextvars, merge_contextvars
from structlog.testing import capture_logs

NAME = "tests.logged"


@pytest.fixture
def task() -> Iterator[Task[..., Any]]:
    """A task that ends as its argument says."""

    @current_app.task(name=NAME, bind=True, max_retries=1)
    def logged(task: Task[..., Any], how: str) -> None:
        structlog.get_logger().info("working")
        if how == "retry":
            raise task.retry(countdown=100)
        if how == "fail":
            raise RuntimeError("a secret")

    yield logged
    del current_app.tasks[NAME]


def run(task: Task[..., Any], how: str, **headers: str) -> list[dict[str, Any]]:
    """Run the task as a worker does for a message with these headers, and return what was logged."""
    message = {"id": "the-task", "task": NAME, "delivery_info": {"routing_key": "sweeps"}, **headers}
    with capture_logs([merge_contextvars]) as entries:
        build_tracer(NAME, task, app=current_app)("the-task", [how], {}, message)
    return [dict(entry) for entry in entries]


def test_a_run_leaves_one_line_and_each_line_of_it_has_the_ids_of_task_and_request(task: Task[..., Any]) -> None:
    working, line = run(task, "succeed", request_id="find-me")
    assert working["request_id"] == "find-me"
    assert working["task_id"] == "the-task"
    assert 0 <= line.pop("duration_ms") < 10_000
    assert line == {
        "event": "task",
        "log_level": "info",
        "name": NAME,
        "task_id": "the-task",
        "request_id": "find-me",
        "outcome": "succeeded",
        "error": None,
    }


def test_a_failed_run_leaves_the_type_of_its_error_and_not_what_it_said(task: Task[..., Any]) -> None:
    line = run(task, "fail")[-1]
    assert (line["outcome"], line["error"]) == ("failed", "RuntimeError")
    assert "a secret" not in str(line)


def test_a_task_that_no_request_caused_has_no_request_id(task: Task[..., Any]) -> None:
    assert all("request_id" not in line for line in run(task, "succeed"))


@pytest.mark.parametrize("how", ["succeed", "fail", "retry"])
@pytest.mark.usefixtures("queue")
def test_no_id_is_left_for_the_next_task_of_the_process(task: Task[..., Any], how: str) -> None:
    run(task, how, request_id="find-me")
    assert get_contextvars() == {}


def test_a_retry_keeps_the_request_id(task: Task[..., Any], queue: Any) -> None:
    line = run(task, "retry", request_id="find-me")[-1]
    message = queue.get(no_ack=True)
    assert line["outcome"] == "retried"
    assert (message.headers["task"], message.headers["retries"]) == (NAME, 1)
    assert message.headers["request_id"] == "find-me"


def test_a_message_that_a_request_sends_carries_its_id(queue: Any) -> None:
    with bound_contextvars(request_id="find-me"):
        current_app.send_task(NAME)
    assert queue.get(no_ack=True).headers["request_id"] == "find-me"


def test_a_message_that_beat_sends_carries_none(queue: Any) -> None:
    current_app.send_task(NAME)
    assert "request_id" not in queue.get(no_ack=True).headers
