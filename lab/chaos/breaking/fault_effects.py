"""What each fault does to the world when it begins, and what ends it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import redis
from celery import Celery
from kombu import Connection
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from lab.chaos.breaking import failover, skewed_database
from lab.chaos.breaking.faults import DEEPEST_REORG_BLOCKS, Drawn
from lab.chaos.breaking.providers import Fault, set_fault
from lab.chaos.chain import ChaosChain
from lab.chaos.journal import Journal
from lab.chaos.world import ChaosWorld

QUEUE = "sweeps"
CELERY = Celery(set_as_current=False)
CHECK, DUE = "indexer.check_sweep", "indexer.check_due"
MOST_DUPLICATES, LONGEST_COUNTDOWN_SECONDS = 6, 8
MOST_LAGGING_BLOCKS = 30
SKEWS_SECONDS = (-240, -30, -5, 5, 30, 240)
# What is due by a fast clock waits for as long under the true one, which the end of a run must bear.
SKEWS_OF_DATABASE_SECONDS = (-20, -5, 5, 20)
LONGEST_JUMP_SECONDS = 90
PAST_EVERY_DEADLINE_SECONDS = 1_000


@dataclass(frozen=True)
class Message:
    """A message of a task."""

    task: str
    arguments: tuple[str, ...] = ()
    countdown: float = 0


@dataclass(frozen=True)
class Scene:
    """What faults act on."""

    world: ChaosWorld
    chain: ChaosChain
    journal: Journal
    held: dict[int, dict[str, str]] = field(default_factory=dict)  # raw transactions by hash, by the reorg's action

    def send(self, *messages: Message) -> bool:
        """Put messages into the queue; False if Redis is away."""
        options = {"socket_timeout": 1, "socket_connect_timeout": 1, "max_retries": 0}
        broker = Connection(self.world.local.redis_url, connect_timeout=1, transport_options=options)
        try:
            with broker, CELERY.amqp.Producer(broker, auto_declare=False) as producer:
                for one in messages:
                    CELERY.send_task(
                        one.task, one.arguments, countdown=one.countdown, queue=QUEUE, producer=producer, retry=False
                    )
        except (OperationalError, RedisError) as error:
            self.journal.add("messages_lost", error=str(error)[:100])
            return False
        return True


Effect = Callable[[Scene, Drawn], Any]  # what it returns goes into the journal


def _make_provider_bad(scene: Scene, fault: Drawn) -> dict[str, Any]:
    blocks = 1 + Random(fault.seed).randrange(MOST_LAGGING_BLOCKS)
    set_fault(_url(scene, fault), Fault(kind=fault.kind, blocks=blocks, seed=fault.seed))
    return {"blocks": blocks} if fault.kind == "lag" else {}


def _make_provider_good(scene: Scene, fault: Drawn) -> None:
    set_fault(_url(scene, fault), Fault())


def _url(scene: Scene, fault: Drawn) -> str:
    urls = scene.world.providers if fault.lane == "provider" else scene.world.solana_providers
    return urls[int(fault.target)]


def _kill(scene: Scene, fault: Drawn) -> None:
    scene.world.take_down(fault.target)


def _bring_up(scene: Scene, fault: Drawn) -> None:
    scene.world.bring_up(fault.target)


def _kill_part(scene: Scene, fault: Drawn) -> dict[str, Any]:
    return {"pid": scene.world.fleet.kill_one_process(fault.target, fault.seed)}


def _freeze(scene: Scene, fault: Drawn) -> None:
    scene.world.fleet.freeze(fault.target or fault.kind.partition("_")[0])


def _thaw(scene: Scene, fault: Drawn) -> None:
    scene.world.fleet.thaw(fault.target or fault.kind.partition("_")[0])


def _skew(scene: Scene, fault: Drawn) -> dict[str, Any]:
    """Start a process again with a wrong clock, which it keeps until it is started again."""
    seconds = Random(fault.seed).choice(SKEWS_SECONDS)
    scene.world.take_down(fault.target)
    scene.world.bring_up(fault.target, skew_seconds=seconds)
    return {"seconds": seconds}


def _flush_redis(scene: Scene, _fault: Drawn) -> None:
    with redis.Redis.from_url(scene.world.local.redis_url, socket_timeout=1) as client:
        client.flushall()


def _kill_redis(scene: Scene, _fault: Drawn) -> None:
    scene.world.take_down("redis")


def _start_redis(scene: Scene, _fault: Drawn) -> None:
    scene.world.bring_up("redis")


def _restart_postgres(scene: Scene, _fault: Drawn) -> None:
    failover.restart(scene.world)


def _skew_postgres(scene: Scene, fault: Drawn) -> dict[str, Any]:
    """Go on with a server whose clock is wrong, as after a fail-over to another host."""
    seconds = Random(fault.seed).choice(SKEWS_OF_DATABASE_SECONDS)
    skewed_database.skew(scene.world.database_url, seconds)
    failover.restart(scene.world)
    return {"seconds": seconds}


def _set_postgres_right(scene: Scene, _fault: Drawn) -> None:
    skewed_database.set_right(scene.world.database_url)
    failover.restart(scene.world)


def _copy_postgres(scene: Scene, _fault: Drawn) -> None:
    scene.journal.add("copying")
    failover.copy(scene.world)


def _fail_over(scene: Scene, _fault: Drawn) -> None:
    failover.fail_over(scene.world)
    scene.journal.add("failed_over")


def _reorganise(scene: Scene, fault: Drawn) -> dict[str, Any]:
    random = Random(fault.seed)
    facts = scene.chain.reorganise(1 + random.randrange(DEEPEST_REORG_BLOCKS), random)
    scene.held[fault.at] = facts.pop("held", {})
    return {**facts, "held": list(scene.held[fault.at])}


def _send_what_was_held(scene: Scene, fault: Drawn) -> None:
    """Send half of the transactions that the reorg dropped; the others never come back."""
    random = Random(fault.seed + 1)
    for tx_hash, raw in scene.held.pop(fault.at, {}).items():
        if random.random() < 0.5:
            scene.journal.add("sent_again", hash=tx_hash, accepted=scene.chain.send_again(raw))


def _jump_clock(scene: Scene, fault: Drawn) -> dict[str, Any]:
    random = Random(fault.seed)
    seconds = random.choice((random.randint(1, LONGEST_JUMP_SECONDS), PAST_EVERY_DEADLINE_SECONDS))
    return {"seconds": seconds, "height": scene.chain.warp(seconds)}


def _duplicate_tasks(scene: Scene, fault: Drawn) -> dict[str, Any]:
    chosen = _some_sweeps(scene, fault)
    messages = [Message(CHECK, (sweep,)) for sweep in chosen for _ in range(2)]
    return {"sweeps": chosen, "sent": scene.send(*messages, Message(DUE), Message(DUE))}


def _delay_tasks(scene: Scene, fault: Drawn) -> dict[str, Any]:
    chosen, random = _some_sweeps(scene, fault), Random(fault.seed)
    messages = [Message(CHECK, (sweep,), random.random() * LONGEST_COUNTDOWN_SECONDS) for sweep in chosen]
    return {"sweeps": chosen, "sent": scene.send(*messages)}


def _some_sweeps(scene: Scene, fault: Drawn) -> list[str]:
    return Random(fault.seed).choices(scene.journal.sweeps, k=MOST_DUPLICATES) if scene.journal.sweeps else []


def _nothing(_scene: Scene, _fault: Drawn) -> None:
    """End a fault that ended by itself."""


EFFECTS: Mapping[str, tuple[Effect, Effect]] = {
    "killed": (_kill, _bring_up),
    "part_killed": (_kill_part, _nothing),
    "frozen": (_freeze, _thaw),
    "skewed": (_skew, _nothing),
    "redis_flushed": (_flush_redis, _nothing),
    "redis_restarted": (_kill_redis, _start_redis),
    "redis_frozen": (_freeze, _thaw),
    "postgres_restarted": (_restart_postgres, _nothing),
    "postgres_frozen": (_freeze, _thaw),
    "postgres_skewed": (_skew_postgres, _set_postgres_right),
    "failed_over": (_copy_postgres, _fail_over),
    "reorg": (_reorganise, _send_what_was_held),
    "clock_jumped": (_jump_clock, _nothing),
    "duplicated": (_duplicate_tasks, _nothing),
    "delayed": (_delay_tasks, _nothing),
}


def effects_of(fault: Drawn) -> tuple[Effect, Effect]:
    """Return what begins and what ends a fault."""
    if fault.lane.endswith("provider"):
        return _make_provider_bad, _make_provider_good
    return EFFECTS[fault.kind]
