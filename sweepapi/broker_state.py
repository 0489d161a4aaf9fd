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

    def waiting(self, queue: str) -> int:
        """Return how many messages no worker has taken from a queue yet."""
        return int(self._redis.llen(queue))

    def messages(self) -> dict[str, int]:
        """Return how many messages are in the queues, and how many a worker has and did not acknowledge yet."""
        ready = sum(self.waiting(queue.name) for queue in settings.CELERY_TASK_QUEUES)
        return {"ready": ready, "unacknowledged": int(self._redis.hlen(UNACKNOWLEDGED))}
