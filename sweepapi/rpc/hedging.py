"""Asks several providers at the same time, and the next one as well while one of them is slow."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from sweepapi.rpc.provider import Provider

# How long to wait for a provider before the next one is queried as well: a few times what it usually takes.
USUAL_TIMES = 3
MIN_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.25, 0.75

AnswerT = TypeVar("AnswerT")
Patience = Callable[[Provider], float]  # for how many seconds a provider is waited for before the next one is queried


@dataclass(frozen=True)
class _Asked:
    provider: Provider
    since: float  # in monotonic seconds, as below
    late_at: float


@dataclass
class _Race(Generic[AnswerT]):
    """One question to several providers, of which the first answers count."""

    asked: dict[Future[AnswerT], _Asked] = field(default_factory=dict)  # that have not answered
    answers: dict[Provider, AnswerT] = field(default_factory=dict)

    def not_late(self) -> list[_Asked]:
        return [one for one in self.asked.values() if one.late_at > time.monotonic()]

    def collect(self, *, until: float) -> None:
        """Wait for the next that answers or fails; those that fail are not asked any more."""
        done, _ = wait(self.asked, timeout=max(until - time.monotonic(), 0), return_when=FIRST_COMPLETED)
        for future in done:
            one = self.asked.pop(future)
            try:
                self.answers[one.provider] = future.result()
            except BadResponseError:
                continue  # the provider logged and counted it


def usual_patience(provider: Provider) -> float:
    """Return a few times what the provider usually takes, for reads that an HTTP request waits for."""
    usual = provider.health.latency
    return MAX_DELAY_SECONDS if usual is None else min(max(USUAL_TIMES * usual, MIN_DELAY_SECONDS), MAX_DELAY_SECONDS)


def first_answers(
    providers: Sequence[Provider],
    ask: Callable[[Provider], AnswerT],
    *,
    count: int,
    deadline: float,
    patience: Patience = usual_patience,
) -> Mapping[Provider, AnswerT]:
    """Return up to ``count`` usable answers, the first that come, by provider; ``deadline`` is in monotonic seconds.

    So many providers are queried at once, and the next one for each that fails or is late. Once one has answered, those
    that are late are not waited for. Raises ``ChainUnavailableError`` if no provider answers.
    """
    current, waiting = _Race[AnswerT](), list(providers)
    executor = ThreadPoolExecutor(max_workers=max(len(providers), 1))
    try:
        while len(current.answers) < count:
            for provider in waiting[: max(count - len(current.answers) - len(current.not_late()), 0)]:
                now = time.monotonic()
                asked = _Asked(provider, now, late_at=min(now + patience(provider), deadline))
                current.asked[executor.submit(copy_context().run, ask, provider)] = asked
                waiting.remove(provider)
            on_time = current.not_late()
            if not current.asked or (current.answers and not on_time) or time.monotonic() >= deadline:
                break
            current.collect(until=min((one.late_at for one in on_time), default=deadline))
    finally:
        executor.shutdown(wait=False)
    if not current.answers:
        raise ChainUnavailableError("no provider answered in time")
    for late in current.asked.values():
        late.provider.health.note_latency(time.monotonic() - late.since)
    return {provider: current.answers[provider] for provider in providers if provider in current.answers}
