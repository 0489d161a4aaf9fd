"""What fresh confirms take where two providers have to agree: beside one provider, and where both are 40 ms away."""

import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from statistics import median

from dev.chain.chains_file import CHAIN
from lab.bench.api import ratios
from lab.bench.api.scene import Scene, Server
from lab.bench.build import proxy
from lab.bench.report import Section, Target

PROVIDERS = ("one provider", "two providers")
WARM_UP, ROUNDS, COUNT = 64, 9, 150
LEAST_RATIO = 0.6
DELAY_MILLISECONDS, FAR_WARM_UP, FAR_COUNT = 40, 16, 60
MOST_MILLISECONDS = 100


def measure(scene: Scene) -> Sequence[Section]:
    """Report hashes of mined transactions to a server with one provider and to one with two, in turn."""
    return [_beside_one(scene), _far_away(scene)]


def _beside_one(scene: Scene) -> Section:
    rates: dict[str, list[float]] = defaultdict(list)
    node = scene.bench.node.url
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(_server(scene, name, [node, f"{node}/second"][:number]))
            for number, name in enumerate(PROVIDERS, start=1)
        }
        for server in servers.values():
            ratios.send(server, ratios.fresh_confirms(scene, WARM_UP))
        for _ in range(ROUNDS):
            for name, server in servers.items():
                requests = ratios.fresh_confirms(scene, COUNT)
                started = time.monotonic()
                ratios.send(server, requests)
                rates[name].append(COUNT / (time.monotonic() - started))
    ratio = round(median(two / one for one, two in zip(*rates.values(), strict=True)), 2)
    rows = [{"server with": name, "fresh confirms a second": round(median(found))} for name, found in rates.items()]
    target = Target("fresh confirms with two providers to those with one", ratio, LEAST_RATIO, at_least=True)
    return Section("Fresh confirms where two providers have to agree", rows, [target])


def _far_away(scene: Scene) -> Section:
    node, delay = scene.bench.node.url, DELAY_MILLISECONDS / 1_000
    with (
        proxy.running(node, delay_seconds=delay) as first,
        proxy.running(node, delay_seconds=delay) as second,
        _server(scene, "far", [first.url, second.url]) as server,
    ):
        ratios.send(server, ratios.fresh_confirms(scene, FAR_WARM_UP))
        answers = ratios.send(server, ratios.fresh_confirms(scene, FAR_COUNT), connections=1)
    millis = round(1_000 * median(answered.seconds for answered in answers), 1)
    row = {"confirms": len(answers), "ms at the median": millis}
    target = Target("ms of a fresh confirm at the median, both providers far away", millis, MOST_MILLISECONDS)
    return Section(f"Fresh confirms where two providers are {DELAY_MILLISECONDS} ms away", [row], [target])


def _server(scene: Scene, name: str, urls: Sequence[str]) -> AbstractContextManager[Server]:
    providers = {f"RPC_URLS_{CHAIN.upper()}": ",".join(urls)}
    return scene.server(name.replace(" ", "-"), {**scene.bench.environment, **ratios.PATIENT, **providers})
