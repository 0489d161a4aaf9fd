"""Looks at the broker as an onlooker: on a connection of its own, and with short deadlines."""

from dataclasses import dataclass, field

from django.conf import settings
from redis import Redis

TIMEOUT_SECONDS = 0.5
UNACKNOWLEDGED = "unacked"  # the hash in which kombu keeps what it delivered, waiting countdowns among it


def _connect() -> Redis:
    timeouts = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
    return Redis.from_url(settings.REDIS_URL, **timeouts)


@dataclass
class BrokerState:
    """What Redis says about itself; each method raises ``RedisError`` if it does not answer."""

    _redis: Redis = field(default_factory=_connect)

    def ping(self) -> None:
        self._redis.ping()

    def messages(self) -> dict[str, int]:
        """Return how many messages are in the queues, and how many a worker has and did not acknowledge yet."""
        ready = int(self._redis.llen(settings.CELERY_TASK_DEFAULT_QUEUE))
        return {"ready": ready, "unacknowledged": int(self._redis.hlen(UNACKNOWLEDGED))}
