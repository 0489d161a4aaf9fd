"""``python -m lab.outages --seconds 2 20 120``: makes each outage, and prints how soon the service worked again.

Exits with 1 if a target is missed, or if anything was lost, doubled or stuck.
"""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

from dev.processes.errors import LocalWorldError
from dev.processes.fleet import Fleet
from dev.processes.supervisor import Interrupted, say
from dev.processes.waiting import wait_until
from dev.world import VAR
from lab.bench.report import Section, Target, conclude, print_table
from lab.chaos import settling, world
from lab.chaos.breaking.fault_effects import Scene
from lab.chaos.chain import ChaosChain
from lab.chaos.journal import JOURNAL, Journal
from lab.outages.outages import ENGINES, GROUPS, Outage, outages
from lab.outages.users import Users

FOLDER = VAR / "outages"
SWEEPS = 3  # that wait for their blocks when an outage begins
MOST_ACCEPTANCE_SECONDS, MOST_RESUMPTION_SECONDS = 6.0, 10.0
RESUMPTION_SECONDS = 60  # after which the run is stopped
PAUSE_SECONDS = 0.5


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.outages")
    parser.add_argument("--seconds", nargs="+", type=float, default=[2, 20, 120], help="for which an engine is away")
    parser.add_argument("--of", nargs="+", default=[*ENGINES, *GROUPS], help="which engines and processes are away")
    given = parser.parse_args(arguments)
    try:
        with Fleet(FOLDER) as fleet:
            say("starting the world")
            chaos = world.start(fleet)
            chain = ChaosChain(chaos.local.rpc_url)
            chain.mine(world.FINAL_DEPTH_BLOCKS)  # finalizes the deployment
            return run(
                Scene(chaos, chain, Journal(fleet.folder / JOURNAL)),
                [one for one in outages(given.seconds) if one.of in given.of],
            )
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130


def run(scene: Scene, chosen: Sequence[Outage]) -> int:
    """Make the outages one after another, let the world come to rest, and compare the books with the chain."""
    users, rows = Users(scene), []
    for outage in chosen:
        rows.append(measure(scene, users, outage))
        say(str(rows[-1]))
    settling.bring_to_rest(scene)
    findings = settling.check(scene)
    for found in findings:
        say(f"{found.sweep}: {found.kind}: {found.sentence}")
    resumed = max(row["resumed after, s"] for row in rows)
    accepted = max((row["99th percentile, s"] for row in rows if row["99th percentile, s"] is not None), default=0.0)
    targets = [
        Target("seconds until due work resumes, at most", resumed, MOST_RESUMPTION_SECONDS),
        Target("seconds from receipt to completed meanwhile, p99", accepted, MOST_ACCEPTANCE_SECONDS),
        Target("lost, doubled, stuck or wrong", float(len(findings)), 0.0),
    ]
    section = Section(
        "Outages", [row | {"99th percentile, s": row["99th percentile, s"] or 0.0} for row in rows], targets
    )
    print_table(section)
    return conclude([section], "outages")


def measure(scene: Scene, users: Users, outage: Outage) -> dict[str, Any]:
    """Return how long sweeps took during one outage, and how soon what became due was done after it."""
    waiting = [users.submit() for _ in range(SWEEPS)]
    outage.begin(scene.world)
    ends_at = time.monotonic() + outage.seconds
    scene.chain.mine()
    mined = dict.fromkeys(waiting, time.time()) if outage.leaves_confirms else {}
    while time.monotonic() < ends_at:
        if outage.leaves_confirms:
            sweep = users.submit()
            scene.chain.mine()
            mined[sweep] = time.time()
        revive(scene)
        time.sleep(PAUSE_SECONDS)
    outage.end(scene.world)
    ended = time.monotonic()
    due = {*waiting, *mined}

    def is_done() -> bool:
        revive(scene)
        return len(users.completed(due)) == len(due)

    wait_until(is_done, within_seconds=RESUMPTION_SECONDS, what=f"completion after {outage}")
    if outage.of == "web":
        scene.world.wait_until_served()
    resumed = time.monotonic() - ended
    at = users.completed(mined)
    taken = sorted(at[sweep] - mined[sweep] for sweep in mined)
    slow = taken[math.ceil(0.99 * len(taken)) - 1] if taken else None
    return {
        "outage": str(outage),
        "sweeps": len(taken),
        "99th percentile, s": None if slow is None else round(slow, 2),
        "resumed after, s": round(resumed, 2),
    }


def revive(scene: Scene) -> None:
    """Start again what ended by itself, as ``restart`` does in compose.yaml."""
    for name in scene.world.fleet.exited():
        say(f"{name} exited, and is started again")
        scene.world.bring_up(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
