"""Kombu's connection to Redis, made to survive outages; without it a short one ends the worker, or stops it silently.

Kombu's ``Channel.close`` first reads the reply to its blocking BRPOP. When Redis is gone that raises, so the channel
stays open with the messages it has not acknowledged: the countdowns that wait. Since 5.7 (celery/celery#10242) Celery
then closes the connection once more, when ``Connection.collect`` has already detached the transport. The channel tries
to hand its messages back through it, ``'NoneType' object has no attribute 'hostname'`` does not count as a connection
error, and the worker ends.

Closing loses no messages: Redis keeps them as unacknowledged and delivers them again after the visibility timeout, if
it kept its data. Nothing depends on that: the rows say when they are due, and beat checks them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from queue import Empty
from typing import Any, Self

import kombu
from celery.app import amqp
from kombu.transport import redis, virtual

RECONNECT_PAUSE_SECONDS = 1.0


class QoS(redis.QoS):
    """Kombu's count of the messages that a worker holds, without those that it failed to acknowledge.

    Celery only logs such a failure. They would count for ever, and a worker that holds as many as it may prefetch asks
    Redis for no more: it would not even notice that its connection is dead.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message, or leave it to be delivered again."""
        try:
            super().ack(delivery_tag)
        finally:
            self._release(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 kombu's signature
        """Reject a message, or leave it to be delivered again."""
        try:
            super().reject(delivery_tag, requeue=requeue)
        finally:
            self._release(delivery_tag)

    def _release(self, delivery_tag: str) -> None:
        virtual.QoS.ack(self, delivery_tag)


class Channel(redis.Channel):
    """Kombu's channel, except for how it closes and counts."""

    QoS = QoS

    # What the library's type stubs leave out.
    connection_errors: tuple[type[Exception], ...]
    _in_poll: bool
    _create_client: Callable[[], object]
    _brpop_read: Callable[[], object]

    @contextmanager
    def conn_or_acquire(self, client: object = None) -> Iterator[object]:
        """Yield one client for all acknowledgements; kombu would make one for each."""
        yield client or self._shared_client

    @cached_property
    def _shared_client(self) -> object:
        return self._create_client()

    def close(self) -> None:
        """Close for good at the first call, whether Redis answers or not."""
        if self._in_poll:
            with suppress(Empty, *self.connection_errors):
                self._brpop_read()
        super().close()


class Transport(redis.Transport):
    """What ``CELERY_BROKER_TRANSPORT`` names."""

    Channel = Channel


class Connection(kombu.Connection):
    """Kombu's connection, which would wait 2, 4, 6 to 30 seconds between attempts."""

    def ensure_connection(self, *args: Any, **options: Any) -> Self:  # noqa: ANN401 kombu's own
        """Connect; repeat it with short pauses."""
        pauses = {"interval_start": RECONNECT_PAUSE_SECONDS, "interval_max": RECONNECT_PAUSE_SECONDS}
        super().ensure_connection(*args, **(pauses | options))
        return self


class Amqp(amqp.AMQP):
    """How Celery learns of ``Connection``."""

    Connection = Connection
