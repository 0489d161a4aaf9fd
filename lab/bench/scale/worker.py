"""How long the worker's statements take however many sweeps are stored or open: claiming, and the pass of beat."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from django.db import connection

from lab.bench.report import Section, Target
from lab.bench.scale.latency import plans_of
from lab.bench.scale.stock import Stock
from lab.bench.sweeps import engine
from sweeps.models import Sweep, SweepStatus

OPEN, DUE, RAN_OUT = 100_000, 10_000, 500
CLAIMS = 20
MOST_CLAIM_MS, MOST_PASS_SECONDS = 5.0, 1.0


def measure_claims(stock: Stock) -> tuple[Section, dict[str, list[dict[str, Any]]]]:
    """Claim with nothing due and with much due, while many are open; returns the plans, too."""
    few, plans = min(OPEN // 10, stock.loaded), {}
    tomorrow = {("sweeps_sweep", column): "now() + interval '1 day'" for column in ("deadline", "next_check_at")}
    rows = []
    _release()
    for open_sweeps in (few, min(OPEN, stock.loaded) - few):
        stock.copy(stock.submitted, open_sweeps, tomorrow)
        rows.append(_row("nothing due"))
        plans["claiming, nothing due"] = plans_of(engine.claim)
        _make_due(DUE)
        rows.append(_row(f"{DUE:,} due"))
        plans["claiming, many due"] = plans_of(engine.claim)
        _release()
    targets = [
        Target(f"ms of a claim with {row['due']} of {row['open']:,} open, median", row["median ms"], MOST_CLAIM_MS)
        for row in rows
    ]
    return Section("Claiming", rows, targets), plans


def measure_expiry(stock: Stock) -> Section:
    """Let beat's pass find sweeps whose deadline has passed, and what it sends messages for be checked."""
    past = {
        ("sweeps_sweep", "deadline"): "now() - interval '1 hour'",
        ("sweeps_sweep", "next_check_at"): "now() - interval '1 minute'",
    }
    ids = stock.copy(stock.built, RAN_OUT, past)
    started = time.perf_counter()
    engine.expiry_pass()
    seconds = round(time.perf_counter() - started, 3)
    engine.check_due()
    row = {
        "ran out": RAN_OUT,
        "seconds of the pass": seconds,
        "seconds until all expired": round(time.perf_counter() - started, 2),
    }
    expired = Sweep.objects.filter(id__in=ids, status=SweepStatus.EXPIRED).count()
    if expired != RAN_OUT:
        raise RuntimeError(f"{expired} of {RAN_OUT} sweeps expired")
    return Section("Pass of beat", [row], [Target("seconds of the expiry pass", seconds, MOST_PASS_SECONDS)])


def _row(due: str) -> dict[str, Any]:
    taken, claimed = [], []
    for _ in range(CLAIMS):
        statements: list[float] = []
        with connection.execute_wrapper(partial(_timed, statements)):
            claimed.append(engine.claim())
        taken.append(1_000 * sum(statements))
    return {
        "open": Sweep.objects.filter(is_open=True).count(),
        "due": due,
        "claimed at once": max(claimed),
        "median ms": round(median(taken), 2),  # of its statements; the instances are made afterwards
        "longest ms": round(max(taken), 2),
    }


def _timed(taken: list[float], execute: Callable[..., Any], *statement: object) -> Any:  # noqa: ANN401 - a cursor's
    started = time.perf_counter()
    result = execute(*statement)
    taken.append(time.perf_counter() - started)
    return result


def _make_due(count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sweeps_sweep SET next_check_at = now() - interval '1 minute' WHERE id IN "
            "(SELECT id FROM sweeps_sweep WHERE is_open AND status = 'pending' LIMIT %s)",
            [count],
        )


def _release() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE sweeps_sweep SET next_check_at = now() + interval '1 day', lease_token = NULL, lease_until = NULL "
            "WHERE is_open"
        )
        cursor.execute("VACUUM (ANALYZE) sweeps_sweep")
