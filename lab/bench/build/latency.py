"""How long a build takes where the chain is 40 ms away, and how long the same reads take one at a time."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import requests
from eth_abi.abi import decode

from lab.bench.build import proxy
from lab.bench.build.proxy import Proxy
from lab.bench.report import Section, Target
from lab.bench.service import Service, reading_from
from sweepapi.evm.chain.multicall import AGGREGATE3

DELAY_MILLISECONDS = 40
TOKENS = 10
OUTPUTS = ("WETH", "USDC")
WARM_UP, RUNS = 5, 30
MOST_MILLISECONDS = 4 * DELAY_MILLISECONDS + 60
LEAST_RATIO = 25


@dataclass(frozen=True)
class Compared:
    """One build and what it asked, in milliseconds."""

    output: str
    build: float
    calls: int
    calls_alone: float
    reads: int
    reads_alone: float

    @property
    def ratio(self) -> float:
        return round(self.reads_alone / self.build, 1)


def measure(service: Service) -> Section:
    """Compare builds with the reads of one of them, through the same proxy."""
    with proxy.running(service.rpc.url, delay_seconds=DELAY_MILLISECONDS / 1_000) as node:
        compared = [_compare(service, node, output) for output in OUTPUTS]
    rows = [
        {
            "output": one.output,
            "build": one.build,
            "calls": one.calls,
            "calls one at a time": one.calls_alone,
            "reads": one.reads,
            "reads one at a time": one.reads_alone,
            "ratio": one.ratio,
        }
        for one in compared
    ]
    targets = [
        *(
            Target(f"median milliseconds of a build into {one.output}", one.build, MOST_MILLISECONDS)
            for one in compared
        ),
        *(
            Target(f"times as fast into {one.output} as its reads one at a time", one.ratio, LEAST_RATIO, at_least=True)
            for one in compared
        ),
    ]
    return Section(f"Milliseconds for {TOKENS} tokens, {DELAY_MILLISECONDS} ms a request", rows, targets)


def _compare(service: Service, node: Proxy, output: str) -> Compared:
    body = service.body(service.listed[:TOKENS], service.token(output))
    with reading_from(node.url):
        for _ in range(WARM_UP):
            service.build(body)
        node.asked.clear()
        service.build(body)
        calls = [call for batch in node.asked for call in json.loads(batch)]
        build = median(_milliseconds(service, body) for _ in range(RUNS))
    reads = [read for call in calls for read in reads_of(call)]
    return Compared(
        output, round(build, 1), len(calls), _one_at_a_time(node, calls), len(reads), _one_at_a_time(node, reads)
    )


def _milliseconds(service: Service, body: str) -> float:
    started = time.perf_counter()
    service.post(body)
    return 1_000 * (time.perf_counter() - started)


def reads_of(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the reads that a call makes through Multicall3 as calls of their own, and any other call as it is."""
    transaction, *rest = call["params"] or [{}]
    data = bytes.fromhex(transaction["data"][2:]) if call["method"] == "eth_call" else b""
    if not data.startswith(AGGREGATE3.selector):
        yield call
        return
    (targets,) = decode(["(address,bool,bytes)[]"], data[len(AGGREGATE3.selector) :])
    for to, _, read in targets:
        single = {"from": transaction["to"], "to": to, "data": f"0x{read.hex()}"}
        yield {**call, "params": [single, *rest]}


def _one_at_a_time(node: Proxy, calls: Sequence[dict[str, Any]]) -> float:
    with requests.Session() as session:
        started = time.perf_counter()
        for call in calls:
            session.post(node.url, json=call, timeout=60).raise_for_status()
        return round(1_000 * (time.perf_counter() - started), 1)
