"""The outages of a run: which engine or process is away, how, and for how long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dev.processes.waiting import wait_until
from lab.chaos.breaking import failover
from lab.chaos.world import BEATS, LOOPS, START_SECONDS, WEBS, WORKERS, ChaosWorld

ENGINES = ("redis", "postgres")
GROUPS = {"loop": LOOPS, "celery": WORKERS, "beat": BEATS, "web": WEBS}
PROCESS_SECONDS = 20.0


@dataclass(frozen=True)
class Outage:
    """All processes of one kind are away at once; one that is down refuses connections."""

    of: str  # an engine, or a group of processes
    is_frozen: bool
    seconds: float

    def __str__(self) -> str:
        return f"{self.of} {'frozen' if self.is_frozen else 'down'} for {self.seconds:g} s"

    @property
    def names(self) -> Sequence[str]:
        return GROUPS.get(self.of, (self.of,))

    @property
    def leaves_confirms(self) -> bool:
        """Whether sweeps are built, confirmed and completed meanwhile."""
        return self.of in ("redis", "celery", "beat")

    def begin(self, world: ChaosWorld) -> None:
        for name in self.names:
            if self.is_frozen:
                world.fleet.freeze(name)
            else:
                world.take_down(name)

    def end(self, world: ChaosWorld) -> None:
        """Thaw or start them again; returns when an engine answers, and at once for other processes."""
        for name in self.names:
            if self.is_frozen:
                world.fleet.thaw(name)
            else:
                world.bring_up(name)
        if self.of == "postgres":
            wait_until(lambda: failover.answers(world.database_url), within_seconds=START_SECONDS, what="PostgreSQL")


def outages(seconds: Sequence[float]) -> Iterator[Outage]:
    """Yield each engine's outages of these lengths, and one of each kind of each group of processes."""
    for frozen in (False, True):
        for engine in ENGINES:
            yield from (Outage(engine, frozen, length) for length in seconds)
        yield from (Outage(group, frozen, PROCESS_SECONDS) for group in GROUPS)
