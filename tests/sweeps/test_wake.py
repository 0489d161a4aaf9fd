"""The worker gets a message with the time of the next check; a broker that is down or hangs delays no request."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from socket import socket
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery import current_app
from django.utils import timezone

from sweepapi.rpc import ProviderPool
from sweeps.wake import CHECK_TASK, wake
from tests.partner_app import PartnerApp

SLOW_SECONDS = 1.5  # above the timeout of half a second to connect, and again to send


def message_of(queue: Any) -> tuple[str, list[str], datetime]:
    """Return task, arguments and due time of the only message."""
    message = queue.get(no_ack=True)
    assert queue.get(no_ack=True) is None
    due = datetime.fromisoformat(message.headers["eta"])
    return message.headers["task"], message.payload[0], due


def test_a_message_names_the_sweep_and_is_due_at_the_given_time(queue: Any) -> None:
    sweep_id, at = uuid4(), timezone.now() + timedelta(seconds=100)
    wake(sweep_id, at=at)
    task, arguments, due = message_of(queue)
    assert (task, arguments) == (CHECK_TASK, [str(sweep_id)])
    assert abs(due - at) < timedelta(seconds=1)


@pytest.mark.django_db
def test_a_pending_confirm_sends_one_message_for_its_next_check(app: PartnerApp, queue: Any) -> None:
    built = app.build()
    state = app.confirm(built, "0x" + "ab" * 32, status=202)
    _, (sweep_id,), due = message_of(queue)
    next_check_at = datetime.fromisoformat(state["feeAuthorization"]["nextCheckAt"])
    assert UUID(sweep_id) == UUID(built["sweepId"])
    assert abs(due - next_check_at) < timedelta(seconds=1)


@pytest.mark.django_db
def test_a_confirm_without_a_provider_that_answers_sends_it_too(
    app: PartnerApp, use_providers: Callable[..., ProviderPool], queue: Any
) -> None:
    built = app.build()
    use_providers("http://127.0.0.1:1")
    app.confirm(built, "0x" + "ab" * 32, status=202)
    assert message_of(queue)[:2] == (CHECK_TASK, [built["sweepId"]])


@pytest.mark.django_db
def test_a_completed_confirm_leaves_the_rest_to_the_loop(app: PartnerApp, queue: Any) -> None:
    app.complete()
    assert queue.get(no_ack=True) is None


def wake_any() -> None:
    wake(uuid4(), at=timezone.now())


def test_a_broker_that_is_down_is_logged_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://:secret@127.0.0.1:1/0")
    started = time.monotonic()
    wake(uuid4(), at=timezone.now())
    assert time.monotonic() - started < SLOW_SECONDS
    assert "message_lost" in caplog.text
    assert "secret" not in caplog.text


def test_a_broker_that_hangs_is_waited_for_only_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(current_app.conf, "broker_write_url", f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        started = time.monotonic()
        wake(uuid4(), at=timezone.now())
        assert time.monotonic() - started < SLOW_SECONDS


def connections_so_far(queue: Any) -> int:
    """Return how many connections Redis has accepted."""
    accepted: int = queue.channel.client.info("stats")["total_connections_received"]
    return accepted


def test_messages_of_a_thread_share_one_connection(queue: Any) -> None:
    wake_any()
    before = connections_so_far(queue)
    for _ in range(20):
        wake_any()
    assert connections_so_far(queue) == before


def test_threads_send_at_the_same_time(queue: Any) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _number: wake_any(), range(40)))
    assert len(list(iter(lambda: queue.get(no_ack=True), None))) == 40


def test_a_connection_that_redis_closed_is_replaced(queue: Any) -> None:
    wake_any()
    queue.channel.client.client_kill_filter(_type="normal", skipme=True)
    wake_any()
    assert len(list(iter(lambda: queue.get(no_ack=True), None))) == 2


def test_a_message_arrives_after_everything_in_redis_was_deleted(queue: Any) -> None:
    wake_any()
    queue.channel.client.flushall()
    wake_any()
    assert len(list(iter(lambda: queue.get(no_ack=True), None))) == 1


def test_a_forked_process_does_not_use_the_connection_of_its_parent(queue: Any) -> None:
    wake_any()
    child = os.fork()
    if child == 0:
        wake_any()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    before = connections_so_far(queue)
    wake_any()
    assert connections_so_far(queue) == before, "the parent's connection was not disturbed"
    assert len(list(iter(lambda: queue.get(no_ack=True), None))) == 3
