"""Celery's Redis transport, with channels that close when Redis is gone; without it a short outage ends the worker.

Kombu's ``Channel.close`` first reads the reply to its blocking BRPOP. When Redis is gone that raises, so the channel
stays open with the messages it has not acknowledged: the countdowns that wait. Since 5.7 (celery/celery#10242) Celery
then closes the connection once more, when ``Connection.collect`` has already detached the transport. The channel tries
to hand its messages back through it, ``'NoneType' object has no attribute 'hostname'`` does not count as a connection
error, and the worker ends.

Closing loses no messages: Redis keeps them as unacknowledged and delivers them again after the visibility timeout, if
it kept its data. Nothing depends on that: the rows say when they are due, and beat checks them.
"""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty

from kombu.transport import redis


class Channel(redis.Channel):
    """Kombu's channel, except for how it closes."""

    # What the library's type stubs leave out.
    connection_errors: tuple[type[Exception], ...]
    _in_poll: bool
    _brpop_read: Callable[[], object]

    def close(self) -> None:
        """Close for good at the first call, whether Redis answers or not."""
        if self._in_poll:
            with suppress(Empty, *self.connection_errors):
                self._brpop_read()
        super().close()


class Transport(redis.Transport):
    """What ``CELERY_BROKER_TRANSPORT`` names."""

    Channel = Channel
