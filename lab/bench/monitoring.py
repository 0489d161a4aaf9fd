"""What metrics and the line of a request cost: the CPU of reading a sweep's status with and without them, in turn.

Runs as ``python -m lab.bench.monitoring`` in the local world, in one process that counts into files, as web does.
Prints the ratio with its interval of 95 % (a bootstrap of the means) and writes ``var/bench/monitoring.json``; exits
with 1 if the target is missed.
"""

import gc
import logging
import os
import random
import sys
import time
from collections.abc import Sequence
from http import HTTPStatus
from statistics import fmean
from typing import Any

from lab.bench.database import set_up
from lab.bench.report import Section, Target, conclude, print_table
from sweepapi.monitoring import sharing

REQUESTS, WARM_UP = 2_000, 200
ORDER = (0, 1, 1, 0)  # with, without, without, with: so that neither always follows the other
DRAWS = 1_000
MOST_PERCENT = 3.0


def main() -> int:
    """Measure; returns the exit code."""
    sharing.share()
    os.environ["LOG_LEVEL"] = "INFO"  # as in production
    set_up()
    with_them, without = _measure()
    low, high = _interval(with_them, without)
    more = 100 * (fmean(with_them) / fmean(without) - 1)
    row: dict[str, Any] = {
        "µs with": round(1e6 * fmean(with_them), 1),
        "µs without": round(1e6 * fmean(without), 1),
        "more, %": round(more, 2),
        "from": round(low, 2),
        "to": round(high, 2),
    }
    section = Section(
        f"CPU of {REQUESTS} reads of a sweep, every other one without metrics and line",
        [row],
        [Target("what metrics and lines cost, in percent of the rest", round(more, 2), MOST_PERCENT)],
    )
    print_table(section)
    return conclude([section], "monitoring")


def _measure() -> tuple[list[float], list[float]]:
    """Return the CPU seconds of each request with metrics and line, and without."""
    from django.test import Client  # noqa: PLC0415 after django.setup(), as the rest

    from lab.bench.service import issued_key  # noqa: PLC0415
    from sweepapi.api.requests.request_log import RequestLogMiddleware  # noqa: PLC0415
    from tests.factories.sweeps import SweepFactory  # noqa: PLC0415

    key = issued_key()
    sweep = SweepFactory.create(partner_id=_partner())
    logging.getLogger().handlers[0].setStream(open(os.devnull, "w"))  # type: ignore[attr-defined]  # noqa: SIM115, PTH123
    client = Client(headers={"x-api-key": key}, SERVER_NAME="localhost")
    observed, is_bare = RequestLogMiddleware.__call__, 0

    def one_or_the_other(middleware: Any, request: Any) -> Any:  # noqa: ANN401 - as the method that it replaces
        return middleware.get_response(request) if is_bare else observed(middleware, request)

    RequestLogMiddleware.__call__ = one_or_the_other  # type: ignore[method-assign,assignment]
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM_UP + REQUESTS):
        if number == WARM_UP:  # as config.gunicorn has it; what is collected meanwhile would fall on either
            gc.collect()
            gc.freeze()
        is_bare = ORDER[number % len(ORDER)]
        began = time.thread_time()
        answer = client.get(f"/v2/sweep/status/{sweep.id}")
        seconds = time.thread_time() - began
        if answer.status_code != HTTPStatus.OK:
            raise RuntimeError(f"the read was answered {answer.status_code}")
        if number >= WARM_UP:
            taken[is_bare].append(seconds)
    return taken


def _partner() -> Any:  # noqa: ANN401 - a UUID
    from partners.models import ApiKey  # noqa: PLC0415

    return ApiKey.objects.latest("created_at").partner_id


def _interval(with_them: Sequence[float], without: Sequence[float]) -> tuple[float, float]:
    draw = random.Random(0).choices  # noqa: S311 - the same in each run
    ratios = sorted(
        fmean(draw(with_them, k=len(with_them))) / fmean(draw(without, k=len(without))) for _ in range(DRAWS)
    )
    return 100 * (ratios[DRAWS // 40] - 1), 100 * (ratios[-DRAWS // 40] - 1)


if __name__ == "__main__":
    sys.exit(main())
