"""Celery's scheduler, which also shows that it ticks."""

from typing import Any

from celery.beat import PersistentScheduler

from sweeps.heartbeats import BEAT, Heart

_heart = Heart(BEAT)


class Scheduler(PersistentScheduler):
    def tick(self, *args: Any, **kwargs: Any) -> float:  # noqa: ANN401 - Celery's own parameters
        """Write the heartbeat, then send what is due."""
        _heart.beat()
        return super().tick(*args, **kwargs)
