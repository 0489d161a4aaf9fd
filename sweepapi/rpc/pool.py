"""All providers of one network: failover, and agreement between them.

A *batch* is one HTTP request, and the unit in which the service counts round trips; only one with more calls than a
provider takes at once needs several. Each call brings the function that checks and decodes its response, so a provider
that returns nonsense fails over like one that does not respond.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from sweepapi.rpc.calls import Call
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from sweepapi.rpc.provider import Provider, Target

log = structlog.get_logger(__name__)

MIN_TIMEOUT_SECONDS = 0.05


@dataclass
class ProviderPool:
    """All providers of one network, the healthiest first."""

    providers: list[Provider]
    timeout_seconds: float
    lagging_blocks: int
    # Methods that were refused the last time; a caller with an alternative saves a round trip by it.
    refused_methods: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def of_urls(cls, *, urls: Sequence[str], target: Target, timeout_seconds: float) -> "ProviderPool":
        """Return a pool of these endpoints, in order of preference."""
        providers = [Provider(url=url, target=target, position=i) for i, url in enumerate(urls)]
        return cls(providers=providers, timeout_seconds=timeout_seconds, lagging_blocks=target.lagging_blocks)

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """Return the results of the first provider that has them (see ``ask``); no calls need no round trip."""
        return self.ask(calls)[1] if calls else []

    def ask(
        self, calls: Sequence[Call], *, timeout_seconds: float | None = None, exclude: Provider | None = None
    ) -> tuple[Provider, list[Any]]:
        """Ask the healthiest provider, and the next one if it fails, until the time is up.

        Returns the provider that answered and its results. ``exclude`` leaves one out, for a second opinion. Raises
        ``ChainUnavailableError`` if no provider returned a usable response to every call.
        """
        deadline = time.monotonic() + (timeout_seconds or self.timeout_seconds)
        providers = [provider for provider in self._ranked() if provider is not exclude]
        for left, provider in zip(range(len(providers), 0, -1), providers, strict=True):
            # A provider that hangs uses its own share of the time and leaves the rest to the others.
            share = (deadline - time.monotonic()) / left
            try:
                return provider, provider.batch(calls, timeout_seconds=max(share, MIN_TIMEOUT_SECONDS))
            except BadResponseError as error:
                log.warning("provider_failed", provider=repr(provider), error=str(error))
        raise ChainUnavailableError("no provider answered in time")

    def ask_all(self, calls: Sequence[Call]) -> list[list[Any]]:
        """Return the results of every provider that answers; raises ``ChainUnavailableError`` if none does."""
        share = self.timeout_seconds / max(len(self.providers), 1)
        answered = []
        for provider in self._ranked():
            try:
                answered.append(provider.batch(calls, timeout_seconds=share))
            except BadResponseError as error:
                log.warning("provider_failed", provider=repr(provider), error=str(error))
        if not answered:
            raise ChainUnavailableError("no provider answered in time")
        return answered

    def _ranked(self) -> list[Provider]:
        now = time.monotonic()
        newest = max((provider.health.head_number for provider in self.providers), default=0)

        def rank(provider: Provider) -> tuple[bool, bool, float, int]:
            health = provider.health
            lags = newest - health.head_number > self.lagging_blocks
            return (health.open_until > now, lags, round(health.error_rate, 1), provider.position)

        return sorted(self.providers, key=rank)
