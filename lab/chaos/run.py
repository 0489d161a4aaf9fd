"""One seed from its start to its verdict."""

import json
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Self

from dev.processes.fleet import Fleet
from dev.processes.supervisor import say
from dev.world import VAR
from lab.chaos import settling, wallets, world
from lab.chaos.breaking.drawer import Drawer
from lab.chaos.breaking.fault_effects import Scene
from lab.chaos.chain import ChaosChain
from lab.chaos.checker.findings import Finding, Kind
from lab.chaos.driver import Driver
from lab.chaos.journal import JOURNAL, Journal, read
from lab.chaos.users.cast import Cast
from lab.chaos.world import BEATS, WORKERS

FOLDER = VAR / "chaos"
WALLETS = 24
SERVER_ERROR, AWAY = 500, 503


@dataclass(frozen=True)
class Plan:
    """What a run is asked to do."""

    sweeps: int
    lanes: Collection[str]


@dataclass
class Result:
    """What happened under one seed, and what was wrong at its end."""

    seed: int
    sweeps: int
    actions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)  # by name
    stories: dict[str, int] = field(default_factory=dict)
    recorded: dict[str, int] = field(default_factory=dict)  # by the service
    answers: dict[str, int] = field(default_factory=dict)  # by operation and HTTP status; 0 where none came
    findings: list[Finding] = field(default_factory=list)

    def count(self, kind: Kind) -> int:
        return sum(finding.kind is kind for finding in self.findings)

    def write(self) -> None:
        self.file(self.seed).write_text(json.dumps(asdict(self), indent=2) + "\n")

    @staticmethod
    def file(seed: int) -> Path:
        return FOLDER / f"{seed}.json"

    @classmethod
    def read(cls, seed: int) -> Self:
        fields = json.loads(cls.file(seed).read_text())
        findings = [Finding(**found | {"kind": Kind(found["kind"])}) for found in fields.pop("findings")]
        return cls(**fields, findings=findings)


def run(seed: int, plan: Plan) -> Result:
    """Drive a world of its own, let it come to rest, and compare; the result is written to var/chaos."""
    result = Result(seed, plan.sweeps)
    started = time.monotonic()
    with Fleet(FOLDER / str(seed)) as fleet:
        chaos = world.start(fleet)
        say(f"seed {seed}: the world runs after {time.monotonic() - started:.0f} s")
        journal = Journal(fleet.folder / JOURNAL)
        scene = _scene(chaos, journal)
        result.seconds["start"] = time.monotonic() - started
        drawer = _drive(seed, plan, scene, result)
        result.seconds["drive"] = time.monotonic() - started - result.seconds["start"]
        drawer.end_all()
        result.seconds["rest"] = settling.bring_to_rest(scene)
        result.findings = [*settling.check(scene), *_bad_answers(fleet.folder / JOURNAL, result)]
        result.recorded = settling.recorded(scene)
        result.faults = dict(Counter(fault.name for fault in drawer.happened))
        journal.close()
    result.seconds["all"] = time.monotonic() - started
    result.write()
    return result


def _scene(chaos: world.ChaosWorld, journal: Journal) -> Scene:
    chain = ChaosChain(chaos.local.rpc_url)
    chain.mine(world.FINAL_DEPTH_BLOCKS)  # finalizes the deployment
    return Scene(chaos, chain, journal)


def _drive(seed: int, plan: Plan, scene: Scene, result: Result) -> Drawer:
    description = scene.world.local.describe()
    cast = Cast(
        seed=seed,
        sweeps=plan.sweeps,
        world=scene.world,
        chain=scene.chain,
        journal=scene.journal,
        tokens=description["tokens"],
        wallets=wallets.create(scene.chain, description["tokens"], min(WALLETS, plan.sweeps), seed),
    )
    drawer = Drawer(seed, scene, lanes=plan.lanes, sweeps=plan.sweeps)
    driver = Driver(scene=scene, drawer=drawer, cast=cast, random=Random(seed))
    driver.run()
    result.actions = driver.actions
    return drawer


def _bad_answers(journal: Path, result: Result) -> list[Finding]:
    """Return the answers that no outage explains, and count all; and what exited, which only Celery may."""
    entries = read(journal)
    got = [entry for entry in entries if entry["kind"] == "got"]
    result.answers = dict(Counter(f"{entry['op']} {entry['http']}" for entry in got))
    result.stories = dict(Counter(entry["name"] for entry in entries if entry["kind"] == "story"))
    wrong = [entry for entry in got if entry["http"] >= SERVER_ERROR and entry["http"] != AWAY]
    exited = [entry for entry in entries if entry["kind"] == "exited" and entry["name"] not in (*WORKERS, *BEATS)]
    return [
        *(
            Finding(Kind.ANSWERS, one.get("sweep", ""), None, f"{one['op']} got {one['http']} {one['code']}")
            for one in wrong
        ),
        *(Finding(Kind.STUCK, "", None, f"{one['name']} exited by itself") for one in exited),
    ]
