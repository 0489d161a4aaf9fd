"""How much CPU the process that serves a build uses for it, its simulation included.

The first build of tokens that are new to the process reads more than the next ones (``lasting``); the targets are those
of known tokens.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from statistics import median
from typing import Any

from lab.bench.report import Section, Target
from lab.bench.service import Service

WARM_UP, RUNS = 5, 40
MOST_MILLISECONDS = {5: 30.0, 20: 50.0}  # by number of tokens


def measure(service: Service) -> Section:
    """Return the medians of builds one after the other; no other thread of this process works meanwhile."""
    rows: list[dict[str, Any]] = []
    targets: list[Target] = []
    for count, most in MOST_MILLISECONDS.items():
        for symbol in ("WETH", "USDC"):
            output = service.token(symbol)
            body = service.body(service.listed[:count], output)
            known = _cpu_milliseconds(service, body, nullcontext)
            new = _cpu_milliseconds(service, body, partial(service.knowing_no_tokens, output))
            rows.append({"tokens": count, "output": symbol, "known tokens": known, "new tokens": new})
            targets.append(Target(f"median milliseconds of server CPU for {count} tokens into {symbol}", known, most))
    return Section("Milliseconds of server CPU of a build", rows, targets)


def _cpu_milliseconds(service: Service, body: str, prepared: Callable[[], AbstractContextManager[None]]) -> float:
    for _ in range(WARM_UP):
        service.build(body)
    used = []
    for _ in range(RUNS):
        with prepared():
            used.append(_once(service, body))
    return round(median(used), 2)


def _once(service: Service, body: str) -> float:
    started = time.process_time()
    service.post(body)
    return 1_000 * (time.process_time() - started)
