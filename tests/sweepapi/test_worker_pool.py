"""A worker goes on reading the results of its processes after it has lost Redis."""

import os
import pickle
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app
from celery.concurrency import get_implementation
from kombu.asynchronous import Hub

from sweepapi.worker_pool import ResultHandler, TaskPool

RESULT = ("READY", "of a task that failed")
UNUSED = [None] * 9  # what the handler only needs for its thread


class Process:
    """What the handler knows of a process: which one it is."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    os.set_blocking(ends[0], False)
    yield ends
    for end in ends:
        os.close(end)


def turn(hub: Any) -> None:
    """Let the loop look once at what is readable."""
    for fd, _events in hub.poller.poll(0):
        callback, arguments = hub.readers[fd]
        if hasattr(callback, "__next__"):
            next(callback, None)
        else:
            callback(*arguments)


@pytest.mark.parametrize("read_before", [1, 4, 9])
def test_a_result_that_was_read_in_part_is_read_to_its_end_after_the_loop_was_reset(
    pipe: tuple[int, int], read_before: int
) -> None:
    reader, writer = pipe
    received: list[Any] = []
    handler: Any = ResultHandler(*UNUSED, fileno_to_outq={reader: Process()}, on_process_alive=None)
    handler.on_state_change = received.append
    hub: Any = Hub()

    def register() -> None:
        handler.register_with_event_loop(hub)
        hub.add_reader(reader, handler.handle_event, reader)

    body = pickle.dumps(RESULT)
    message = struct.pack(">i", len(body)) + body
    register()
    os.write(writer, message[:read_before])
    turn(hub)
    hub.reset()
    register()
    os.write(writer, message[read_before:])
    turn(hub)
    os.write(writer, message)
    turn(hub)
    assert received == [RESULT] * 2


def test_the_worker_uses_this_pool() -> None:
    assert get_implementation(current_app.conf.worker_pool) is TaskPool
