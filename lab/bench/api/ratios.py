"""How many requests a second status and confirm take, beside a bare view of the same server, in turn.

A fresh confirm reports a hash whose transaction is mined: it is stored, looked up, settled and booked. A repeated one
reports the hash of a completed sweep.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice
from statistics import median
from typing import Any

from lab.bench.api import usage
from lab.bench.api.connections import Answered, Request, closed_loop, run
from lab.bench.api.scene import Scene, Server
from lab.bench.report import Section, Target

COMPLETED = 300
CONNECTIONS = 16
WARM_UP, ROUNDS = 64, 15
# Requests in a round; together with the warm-up fewer than those after which gunicorn starts a process again.
COUNTS = {"bare view": 600, "status": 600, "repeated confirm": 600, "fresh confirm": 200}
# Each round waits for its slowest answer, and what else the machine does may hold up the database for seconds.
PATIENT = {"DATABASE_CONNECTION_MAX_AGE_SECONDS": "600", "DATABASE_DEADLINE_SECONDS": "30"}
LEAST_RATIOS = {"status": 0.9, "repeated confirm": 0.7, "fresh confirm": 0.22}


def measure(scene: Scene) -> Section:
    """Send each kind of request in each round; the figures are medians over the rounds.

    So are the ratios: each is of two rates of the same round, because the machine's speed changes between rounds.
    """
    scene.complete(COMPLETED)
    rates: dict[str, list[float]] = defaultdict(list)
    used: dict[str, list[usage.Used]] = defaultdict(list)
    with scene.server("web", {**scene.bench.environment, **PATIENT}) as server:
        for kind in COUNTS:
            send(server, list(islice(_requests(scene, kind, WARM_UP), WARM_UP)))
        for _ in range(ROUNDS):
            for kind, count in COUNTS.items():
                requests = list(_requests(scene, kind, count))
                before, started = usage.so_far(server.child), time.monotonic()
                send(server, requests)
                rates[kind].append(count / (time.monotonic() - started))
                used[kind].append((usage.so_far(server.child) - before).each(count))
    rows = [_row(kind, found, rates["bare view"], used[kind]) for kind, found in rates.items()]
    targets = [
        Target(f"{kind}: requests a second to those of the bare view", row["times the bare view"], least, at_least=True)
        for row in rows
        for kind, least in LEAST_RATIOS.items()
        if row["request"] == kind
    ]
    return Section(f"Requests a second over {CONNECTIONS} connections", rows, targets)


def _requests(scene: Scene, kind: str, count: int) -> Iterator[Request]:
    if kind == "fresh confirm":
        yield from fresh_confirms(scene, count)
        return
    traffic = scene.traffic
    for sweep_id, tx_hash in islice(cycle(scene.completed.items()), count):
        if kind == "repeated confirm":
            yield traffic.confirm(kind, sweep_id, tx_hash)
        else:
            yield traffic.bare(sweep_id) if kind == "bare view" else traffic.status(sweep_id)


def fresh_confirms(scene: Scene, count: int) -> list[Request]:
    """Have that many sweeps executed, and return the reports of their hashes."""
    confirm = partial(scene.traffic.confirm, "fresh confirm")
    return [confirm(sweep_id, tx_hash) for sweep_id, tx_hash in scene.execute_unreported(count)]


def send(server: Server, requests: list[Request], *, connections: int = CONNECTIONS) -> list[Answered]:
    """Send the requests and return the answers; raises RuntimeError unless all of them are answered 200."""
    answers = run(lambda: closed_loop(server.port, iter(requests), connections=connections))
    wrong = [answered for answered in answers if answered.status != 200]  # noqa: PLR2004 - OK
    if wrong or len(answers) != len(requests):
        raise RuntimeError(f"{len(answers)} of {len(requests)} were answered, {len(wrong)} not with 200: {wrong[:1]}")
    return answers


def _row(kind: str, rates: list[float], of_bare: list[float], used: list[usage.Used]) -> dict[str, Any]:
    ratios = [rate / bare for rate, bare in zip(rates, of_bare, strict=True)]
    return {
        "request": kind,
        "requests a second": round(median(rates)),
        "times the bare view": round(median(ratios), 2),
        "CPU ms of the web": round(1_000 * median(one.web_seconds for one in used), 2),
        "CPU ms of the database": round(1_000 * median(one.database_seconds for one in used), 2),
    }
