"""Asks the next provider as well while one is slow, for reads that an HTTP request waits for."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from sweepapi.rpc.provider import Provider

# How long to wait for a provider before the next one is queried as well: a few times what it usually takes.
USUAL_TIMES = 3
MIN_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.25, 0.75

AnswerT = TypeVar("AnswerT")


def first_answer(
    providers: Sequence[Provider], ask: Callable[[Provider], AnswerT], *, deadline: float
) -> tuple[Provider, AnswerT]:
    """Return the first usable answer and its provider; ``deadline`` is in monotonic seconds.

    A provider is queried when all before it failed or take longer than usual; what comes too late is dropped. Raises
    ``ChainUnavailableError``.
    """
    asked: dict[Future[AnswerT], tuple[Provider, float]] = {}
    executor = ThreadPoolExecutor(max_workers=max(len(providers), 1))
    try:
        for i, provider in enumerate(providers):
            asked[executor.submit(copy_context().run, ask, provider)] = provider, time.monotonic()
            is_last = i == len(providers) - 1
            until = deadline if is_last else min(deadline, time.monotonic() + _delay(provider))
            answer = _first_usable(asked, until=until)
            if answer is not None:
                return answer
    finally:
        executor.shutdown(wait=False)
    raise ChainUnavailableError("no provider answered in time")


def _delay(provider: Provider) -> float:
    usual = provider.health.latency
    return MAX_DELAY_SECONDS if usual is None else min(max(USUAL_TIMES * usual, MIN_DELAY_SECONDS), MAX_DELAY_SECONDS)


def _first_usable(
    asked: dict[Future[AnswerT], tuple[Provider, float]], *, until: float
) -> tuple[Provider, AnswerT] | None:
    """Wait for the first usable answer; None if the time is up, or all failed. Failures are taken out of ``asked``."""
    while asked:
        done, _ = wait(asked, timeout=max(until - time.monotonic(), 0), return_when=FIRST_COMPLETED)
        if not done:
            return None
        for future in done:
            provider, _ = asked.pop(future)
            try:
                answer = future.result()
            except BadResponseError:
                continue  # the provider logged and counted it
            for late, since in asked.values():
                late.health.note_latency(time.monotonic() - since)
            return provider, answer
    return None
