"""What it takes of the CPU to refuse one body, in this process, beside refusing an empty object."""

import io
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from lab.bench.report import Section, Target
from lab.hostile.bodies.mutations import Mutation, mutations
from lab.hostile.bodies.operations import Operation

MUTATIONS = 300  # of each operation, drawn from all
FEWEST_REFUSED = 200  # of these; some are valid
MOST_TIMES_THE_EMPTY_OBJECT = 5
MOST_MILLIS_OF_TYPES = 25
_REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}
_EMPTY_ROUNDS, _ROUNDS = 15, 5
_DOUBTFUL = 0.5  # of the target; what takes more is measured again, since a busy machine doubles times


@dataclass(frozen=True)
class Refusal:
    """One mutation of an operation's body, and what it took."""

    operation: Operation
    mutation: Mutation
    seconds: float
    times_empty: float


class Caller:
    """Sends bodies with one key to the application in this process."""

    def __init__(self, api_key: str) -> None:
        self._application = WSGIHandler()
        self._headers: dict[str, Any] = {"HTTP_X_API_KEY": api_key, "SERVER_NAME": "localhost"}

    def send(self, operation: Operation, body: bytes) -> tuple[int, float]:
        """Return the status, and the CPU seconds of this thread."""
        environ = RequestFactory().generic(operation.method, operation.path, body, "application/json", **self._headers)
        statuses: list[int] = []

        def start_response(status: str, _headers: object, _error: object = None) -> Callable[[bytes], object]:
            statuses.append(int(status.split(maxsplit=1)[0]))
            return io.BytesIO().write

        began = time.thread_time()
        b"".join(self._application(environ.environ, start_response))
        return statuses[0], time.thread_time() - began

    def least_seconds(self, operation: Operation, body: bytes, *, rounds: int) -> float:
        return min(self.send(operation, body)[1] for _ in range(rounds))


def measure(caller: Caller, operations: Sequence[Operation], *, seed: int) -> tuple[Section, Sequence[Refusal]]:
    """Return the table of all operations, and the worst refusal of each."""
    rows: list[dict[str, Any]] = []
    worst: list[Refusal] = []
    for operation in operations:
        empty = caller.least_seconds(operation, b"[]" if operation.largest == {} else b"{}", rounds=_EMPTY_ROUNDS)
        refusals = _refusals(caller, operation, empty, seed)
        most = max(refusals, key=lambda one: one.seconds)
        worst.append(most)
        rows.append(
            {
                "operation": operation.name,
                "refused": len(refusals),
                "empty object ms": empty * 1000,
                "median ms": statistics.median(one.seconds for one in refusals) * 1000,
                "worst ms": most.seconds * 1000,
                "worst / empty": most.times_empty,
                "worst": most.mutation[0],
            }
        )
    most_times = max(one.times_empty for one in worst)
    fewest = min(row["refused"] for row in rows)
    targets = [
        Target("refusing the worst body / refusing {}", most_times, MOST_TIMES_THE_EMPTY_OBJECT),
        Target("refused mutations of each operation", fewest, FEWEST_REFUSED, at_least=True),
    ]
    return Section("Refusing one body: CPU of the process", rows, targets), worst


def _refusals(caller: Caller, operation: Operation, empty: float, seed: int) -> Sequence[Refusal]:
    refusals = []
    for mutation in mutations(operation.largest, count=MUTATIONS, seed=seed):
        status, seconds = caller.send(operation, mutation[1])
        if status not in _REFUSED:
            continue
        if seconds > empty * MOST_TIMES_THE_EMPTY_OBJECT * _DOUBTFUL:
            seconds = caller.least_seconds(operation, mutation[1], rounds=_ROUNDS)
        refusals.append(Refusal(operation, mutation, seconds, seconds / empty))
    return refusals


def measure_types(caller: Caller, operation: Operation) -> Section:
    """Have sixty thousand wrong types refused."""
    body = b'{"url":"https://partner.example/","types":[' + b",".join([b'"x"'] * 60_000) + b"]}"
    status, _ = caller.send(operation, body)
    millis = caller.least_seconds(operation, body, rounds=_ROUNDS) * 1000
    name = "60,000 types for a webhook"
    targets = [
        Target(f"{name}: CPU ms", millis, MOST_MILLIS_OF_TYPES),
        Target(f"{name}: answered with 400", float(status == HTTPStatus.BAD_REQUEST), 1, at_least=True),
    ]
    return Section(name, [{"bytes": len(body), "status": status, "CPU ms": millis}], targets)
