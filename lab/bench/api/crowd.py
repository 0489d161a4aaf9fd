"""A thousand connections with mixed traffic, and after that the same traffic at half of the rate that they reached.

The server reads the local chain, so that it can build. No answer may be a failure, and every build that was answered is
stored once. Reads are timed from when they were due, not from when a busy client got to send them.
"""

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median, quantiles
from typing import Any

from lab.bench.api.connections import NO_ANSWER, Answered, Request, closed_loop, open_loop, run
from lab.bench.api.scene import Scene, Server
from lab.bench.report import Section, Target
from lab.bench.sweeps.identity import transaction_hash
from sweeps.models import Sweep

CONNECTIONS, SECONDS = 1_000, 60
PENDING = 500
SEED = 13
# How many of a thousand requests are of each kind; the rest read statuses.
SHARES = {"build": 10, "confirm": 30, "repeated confirm": 80, "history": 40, "ledger": 40}
READS = ("status", "history", "ledger")
BUILD_TOKENS = 3
MOST_MEDIAN_MS, MOST_TAIL_RATIO = 50.0, 10.0
_THOUSAND, _HUNDREDTHS = 1_000, 100
_FAILED = 500


def measure(scene: Scene) -> list[Section]:
    """Measure both, on one server."""
    pending = list(scene.build_unreported(PENDING).values())
    with scene.server("web-of-the-crowd", {}) as server:
        traffic = _mixed(scene, pending)
        crowd = _crowd(server, traffic)
        rate = len(crowd) / SECONDS
        steady = _steady(server, traffic, rate / 2)
    return [_crowd_section(crowd, steady), _steady_section(steady, rate)]


def _crowd(server: Server, traffic: Iterator[Request]) -> list[Answered]:
    deadline = time.monotonic() + SECONDS
    requests = itertools.takewhile(lambda _: time.monotonic() < deadline, traffic)
    return run(lambda: closed_loop(server.port, requests, connections=CONNECTIONS))


def _steady(server: Server, traffic: Iterator[Request], a_second: float) -> list[Answered]:
    return run(lambda: open_loop(server.port, traffic, a_second=a_second, seconds=SECONDS))


def _mixed(scene: Scene, pending: Sequence[object]) -> Iterator[Request]:
    """Yield requests without end, the same ones in each run."""
    chance = random.Random(SEED)  # noqa: S311 - the same requests in each run
    traffic, completed = scene.traffic, list(scene.completed.items())
    kinds = [*itertools.chain.from_iterable([kind] * share for kind, share in SHARES.items())]
    kinds += ["status"] * (_THOUSAND - len(kinds))
    body = json.loads(scene.service.body(scene.service.listed[:BUILD_TOKENS], scene.service.token("WETH")))
    for number in itertools.count():
        sweep_id, tx_hash = chance.choice(completed)
        match kind := chance.choice(kinds):
            case "build":
                reference = f"crowd-{number}"
                named = {**body, "clientReference": reference}
                yield traffic.post(kind, "/v2/sweep/build", named, is_repeatable=False, reference=reference)
            case "confirm":
                # One of few unknown hashes, so that no sweep gets too many candidates.
                yield traffic.confirm(kind, chance.choice(pending), transaction_hash(-chance.randrange(1, 5)))
            case "repeated confirm":
                yield traffic.confirm(kind, sweep_id, tx_hash)
            case "history":
                yield traffic.get(kind, "/v2/sweep/history?limit=20")
            case "ledger":
                yield traffic.get(kind, "/v2/ledger/entries?limit=20")
            case _:
                yield traffic.status(sweep_id)


def _crowd_section(crowd: Sequence[Answered], steady: Sequence[Answered]) -> Section:
    both = [*crowd, *steady]
    lost, doubled = _missing_and_doubled(both)
    statuses = Counter(answered.status for answered in both)
    failed = sum(count for status, count in statuses.items() if status >= _FAILED or status == NO_ANSWER)
    row: dict[str, Any] = {
        "connections": CONNECTIONS,
        "requests a second": round(len(crowd) / SECONDS),
        "answers": json.dumps({str(status): count for status, count in sorted(statuses.items())}),
        "builds": sum(answered.request.kind == "build" for answered in both),
        "ms at the median": _milliseconds(crowd)[0],
        "at the 99th percentile": _milliseconds(crowd)[1],
    }
    targets = [
        Target(f"requests without an answer, or with 500 and above, over {CONNECTIONS:,} connections", failed, 0),
        Target("builds that were answered and are not stored", lost, 0),
        Target("builds that are stored twice", doubled, 0),
    ]
    return Section(f"Mixed traffic for {SECONDS} seconds", [row], targets)


def _missing_and_doubled(answers: Sequence[Answered]) -> tuple[int, int]:
    """Return how many builds were answered with a sweep that is not stored, and how many are stored more than once."""
    built = {
        answered.request.reference: json.loads(answered.body)["data"]["sweepId"]
        for answered in answers
        if answered.request.kind == "build" and answered.status == 201  # noqa: PLR2004 - Created
    }
    sent = [answered.request.reference for answered in answers if answered.request.kind == "build"]
    rows = Sweep.objects.filter(client_reference__in=sent).values_list("client_reference", "id")
    stored = [(reference, str(sweep_id)) for reference, sweep_id in rows]
    times = Counter(reference for reference, _ in stored)
    return len(set(built.items()) - set(stored)), sum(count > 1 for count in times.values())


def _steady_section(steady: Sequence[Answered], capacity: float) -> Section:
    rows: list[dict[str, Any]] = []
    for kind in ("reads", *sorted({answered.request.kind for answered in steady})):
        kinds = READS if kind == "reads" else (kind,)
        chosen = [answered for answered in steady if answered.request.kind in kinds]
        half, slow = _milliseconds(chosen)
        rows.append({"request": kind, "sent": len(chosen), "ms at the median": half, "at the 99th percentile": slow})
    reads = rows[0]
    targets = [
        Target("ms of a read at half the capacity, median", reads["ms at the median"], MOST_MEDIAN_MS),
        Target(
            "the same at the 99th percentile, in times the median",
            round(reads["at the 99th percentile"] / reads["ms at the median"], 2),
            MOST_TAIL_RATIO,
        ),
    ]
    return Section(f"Open loop at {capacity / 2:.0f} requests a second", rows, targets)


def _milliseconds(answers: Sequence[Answered]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    taken = [1_000 * answered.seconds for answered in answers]
    return round(median(taken), 1), round(quantiles(taken, n=_HUNDREDTHS)[-1], 1)
