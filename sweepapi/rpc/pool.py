"""All providers of one network: which one to ask first, and what to do if it fails.

A *batch* is one HTTP request, and the unit in which the service counts round trips; only one with more calls than a
provider takes at once needs several. Each call brings the function that checks and decodes its response, so a provider
that returns nonsense fails over like one that does not respond.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from sweepapi.limits.outage import Outage
from sweepapi.rpc.calls import Call
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from sweepapi.rpc.health import Clock
from sweepapi.rpc.hedging import Patience, first_answers, usual_patience
from sweepapi.rpc.provider import Provider
from sweepapi.rpc.ranking import ProviderState, ranked, states_of
from sweepapi.rpc.target import Target

MIN_TIMEOUT_SECONDS = 0.05
PROBE_SECONDS = 2.0  # for each provider


@dataclass
class ProviderPool:
    """All providers of one network."""

    providers: list[Provider]
    timeout_seconds: float
    # Methods that were refused the last time; a caller with an alternative saves a round trip by it.
    refused_methods: set[str] = field(default_factory=set, repr=False)
    _outage: Outage = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Ask beside the requests while no provider answers these."""
        self._outage = Outage("providers", self._answers)

    @classmethod
    def of_urls(
        cls, *, urls: Sequence[str], target: Target, timeout_seconds: float, clock: Clock = time.monotonic
    ) -> "ProviderPool":
        """Return a pool of these endpoints, in order of preference."""
        providers = [Provider(url=url, target=target, position=i, clock=clock) for i, url in enumerate(urls)]
        return cls(providers=providers, timeout_seconds=timeout_seconds)

    @property
    def needed(self) -> int:
        """How many providers must say the same before anything closes or is final."""
        return min(len(self.providers), 2)

    @property
    def state(self) -> list[ProviderState]:
        """What this process knows of each provider, in the order of the configuration."""
        return states_of(self.providers)

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """Return the results of the first provider that has them (see ``ask``); no calls need no round trip."""
        return self.ask(calls)[1] if calls else []

    def ask(
        self,
        calls: Sequence[Call],
        *,
        timeout_seconds: float | None = None,
        exclude: Collection[Provider] = (),
    ) -> tuple[Provider, list[Any]]:
        """Ask the healthiest provider, and the next one if it fails, until the time is up.

        Returns the provider that answered and its results. ``exclude`` leaves some out, for another opinion. Raises
        ``ChainUnavailableError`` if no provider returned a usable response to every call, and at once while none
        answers whatever it is queried for.
        """
        with self._watched():
            deadline = time.monotonic() + (timeout_seconds or self.timeout_seconds)
            providers = [provider for provider in ranked(self.providers) if provider not in exclude]
            for left, provider in zip(range(len(providers), 0, -1), providers, strict=True):
                # A provider that hangs uses its own share of the time and leaves the rest to the others.
                try:
                    return provider, provider.batch(calls, timeout_seconds=_left(deadline, shared_by=left))
                except BadResponseError:
                    continue  # the provider logged and counted it
            raise ChainUnavailableError("no provider answered in time")

    def ask_together(
        self, calls: Sequence[Call], *, count: int, deadline: float, is_waited_for: bool
    ) -> Mapping[Provider, list[Any]]:
        """Ask so many providers at the same time, and the next one for each that fails or is late.

        ``deadline`` is in monotonic seconds. If an HTTP request waits for the results, a provider is late when it takes
        a few times longer than usual, and otherwise when half of the time is over. Fewer answer than were asked for
        where the others are late, too; raises ``ChainUnavailableError`` if none does.
        """
        half = _left(deadline, shared_by=2)
        patience: Patience = usual_patience if is_waited_for else lambda _provider: half
        with self._watched():
            return first_answers(
                ranked(self.providers),
                lambda one: one.batch(calls, timeout_seconds=_left(deadline)),
                count=count,
                deadline=deadline,
                patience=patience,
            )

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Refuse at once while no provider answers; suspect that if none did, and all have failed again and again."""
        if self._outage.is_known:
            raise ChainUnavailableError("no provider answers")
        try:
            yield
        except ChainUnavailableError:
            if self.providers and all(one.health.is_open for one in self.providers):
                self._outage.suspect()
            raise

    def _answers(self) -> bool:
        """Whether a provider answers what is always asked first."""
        for provider in self.providers:
            with suppress(BadResponseError):
                provider.batch([proof.call for proof in provider.target.proofs], timeout_seconds=PROBE_SECONDS)
                return True
        return False

    def ask_all(self, calls: Sequence[Call]) -> list[list[Any]]:
        """Return the results of every provider that answers; raises ``ChainUnavailableError`` if none does."""
        return [results for _, results in self.ask_each(calls)]

    def ask_each(self, calls: Sequence[Call]) -> list[tuple[Provider, list[Any]]]:
        """Return what ``ask_all`` does, with the providers."""
        share = self.timeout_seconds / max(len(self.providers), 1)
        answered = []
        for provider in ranked(self.providers):
            try:
                answered.append((provider, provider.batch(calls, timeout_seconds=share)))
            except BadResponseError:
                continue  # as above
        if not answered:
            raise ChainUnavailableError("no provider answered in time")
        return answered


def _left(deadline: float, *, shared_by: int = 1) -> float:
    return max((deadline - time.monotonic()) / shared_by, MIN_TIMEOUT_SECONDS)
