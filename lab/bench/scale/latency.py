"""How long requests take, and how PostgreSQL answers the statements that they make."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from statistics import median, quantiles
from typing import Any, Self

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from lab.bench.report import Section, Target
from lab.bench.scale.stock import Stock
from lab.bench.sweeps.template import confirm

WARM_UP, REQUESTS = 50, 400
SEED = 12
MOST_RATIO = 1.2
_TWENTIETHS = 20

Request = Callable[[], object]


@dataclass(frozen=True)
class Latency:
    """Milliseconds of one kind of request."""

    median: float
    slow: float  # at the 95th percentile

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> Self:
        return cls(round(median(milliseconds), 2), round(quantiles(milliseconds, n=_TWENTIETHS)[-1], 2))


def measure(stock: Stock, few: int) -> Section:
    """Make each request with few sweeps and with all, in turn, so that what else the machine does affects both."""
    with stock.few():
        of_few = _requests(stock, few)
    of_many = _requests(stock, stock.loaded)
    rows: list[dict[str, Any]] = []
    for name, requests in of_many.items():
        with_few, with_many = _latencies(stock, of_few[name], requests)
        rows.append(
            {
                "request": name,
                f"median ms with {few:,}": with_few.median,
                "95th percentile": with_few.slow,
                f"median ms with {stock.loaded:,}": with_many.median,
                "its 95th percentile": with_many.slow,
                "ratio": round(with_many.slow / with_few.slow, 2),
            }
        )
    targets = [
        Target(
            f"95th percentile of a {row['request']} with {stock.loaded:,} sweeps to that with {few:,}",
            row["ratio"],
            MOST_RATIO,
        )
        for row in rows
        if row["request"] in ("confirm", "status")
    ]
    return Section("Milliseconds of requests", rows, targets)


def plans(stock: Stock) -> dict[str, list[dict[str, Any]]]:
    """Return the statements of one request of each kind, with PostgreSQL's plan of each."""
    return {name: plans_of(requests[0]) for name, requests in _requests(stock, stock.loaded).items()}


def plans_of(action: Request) -> list[dict[str, Any]]:
    """Run something once, and return its statements with their plans."""
    statements: list[tuple[str, Any]] = []

    def record(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: ANN401, FBT001
        statements.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        action()
    with transaction.atomic(), connection.cursor() as cursor:
        plans = [{"statement": sql, "plan": _plan(cursor, sql, params)} for sql, params in statements]
        transaction.set_rollback(True)
    return [plan for plan in plans if plan["plan"]]


def _plan(cursor: CursorWrapper, sql: str, params: Any) -> list[str]:  # noqa: ANN401 - of any statement
    """Return the plan, run again unless it would store the same rows; settings count for what follows."""
    kind = sql.split(maxsplit=1)[0]
    if kind == "SET":
        cursor.execute(sql, params)
    if kind not in ("SELECT", "UPDATE", "INSERT", "DELETE"):
        return []
    cursor.execute(f"EXPLAIN {'' if kind == 'INSERT' else '(ANALYZE, BUFFERS)'} {sql}", params)
    return [str(line) for (line,) in cursor.fetchall()]


def _latencies(stock: Stock, of_few: Sequence[Request], of_many: Sequence[Request]) -> tuple[Latency, Latency]:
    few, many = [], []
    for with_few, with_many in zip(of_few, of_many, strict=True):
        with stock.few():
            few.append(milliseconds(with_few))
        many.append(milliseconds(with_many))
    return Latency.of(few[WARM_UP:]), Latency.of(many[WARM_UP:])


def milliseconds(request: Request) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    request()
    return 1_000 * (time.perf_counter() - started)


def _requests(stock: Stock, loaded: int) -> dict[str, list[Request]]:
    """Return requests about sweeps that are drawn from all of them, and of new sweeps for what is done once each."""
    chance = random.Random(SEED)  # noqa: S311 - the same sweeps in each run
    count = WARM_UP + REQUESTS
    stored = stock.closed.ids(chance.sample(range(1, loaded + 1), k=count))
    built = stock.copy(stock.built, count, {("sweeps_sweep", "deadline"): "now() + interval '1 day'"})
    statuses = [_get(stock, f"/v2/sweep/status/{sweep_id}") for sweep_id in stored.values()]
    return {
        "status": statuses,
        "confirm": [_confirm(stock, str(sweep_id), chance.randbytes(32).hex()) for sweep_id in built],
        "history": [_get(stock, "/v2/sweep/history")] * count,
        "ledger": [_get(stock, "/v2/ledger/entries")] * count,
    }


def _get(stock: Stock, path: str) -> Request:
    def request() -> None:
        response = stock.service.client.get(path)
        if response.status_code != HTTPStatus.OK:
            raise RuntimeError(f"{path} was answered with {response.status_code}: {response.content!r}")

    return request


def _confirm(stock: Stock, sweep_id: str, digits: str) -> Request:
    return lambda: confirm(stock.service, sweep_id, f"0x{digits}", HTTPStatus.ACCEPTED)
