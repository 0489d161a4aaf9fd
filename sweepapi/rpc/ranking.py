"""Which providers of a network to ask, the best first, and each one's state in a word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from sweepapi.rpc.provider import Provider

# A provider is slow if it takes that many times as long as the fastest one, and long enough to matter.
SLOW_TIMES, SLOW_SECONDS = 3, 0.25
# Heads that were shown this much later than that of a provider do not tell that it lags: the chain has grown since.
COMPARABLE_SECONDS = 1.0


class ProviderStatus(StrEnum):
    """What a provider's health means for the next request, the worst first."""

    QUARANTINED = "quarantined"  # on another network: not queried
    WAITING = "waiting"  # it limits our requests: not queried
    DISTRUSTED = "distrusted"  # two others contradicted it: queried last; the next ones, after those that are healthy
    FAILING = "failing"
    LAGGING = "lagging"
    UNRELIABLE = "unreliable"
    SLOW = "slow"
    UNPROVEN = "unproven"  # not queried yet, or no longer known to be on the right network
    HEALTHY = "healthy"


@dataclass(frozen=True)
class ProviderState:
    """What this process knows of a provider, as plain values."""

    network: str  # as CAIP-2
    position: int  # in the order of the configuration; its URL may contain a key
    status: ProviderStatus
    head_number: int | None  # None if no response showed one yet; so are the next two
    head_timestamp: int | None  # seconds since 1970; None also where responses do not have it
    blocks_behind: int | None  # None also if it showed no head lately
    error_rate: float
    latency_seconds: float | None  # None if none was measured lately
    paused_for_seconds: float  # how long it is not queried
    answered: int  # batches since the process began; so is the next one
    failed: int
    outvoted: int  # how often two other providers agreed on something else

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return a state that was stored as JSON."""
        return cls(**{**fields, "status": ProviderStatus(fields["status"])})


def ranked(providers: Sequence[Provider]) -> list[Provider]:
    """Return those that may be queried, the best first."""
    fastest = _fastest(providers)

    def rank(provider: Provider) -> tuple[bool, bool, bool, float, bool, int]:
        health = provider.health
        return (
            health.is_distrusted,
            health.is_open,
            _lags(provider, _blocks_behind(provider, providers)),
            round(health.error_rate, 1),
            _is_slow(provider, fastest),
            provider.position,
        )

    return sorted((one for one in providers if one.health.paused_for_seconds <= 0), key=rank)


def states_of(providers: Sequence[Provider]) -> list[ProviderState]:
    """Return what is known of each, in the order of the configuration."""
    fastest = _fastest(providers)
    return [_state(provider, _blocks_behind(provider, providers), fastest) for provider in providers]


def _blocks_behind(provider: Provider, providers: Sequence[Provider]) -> int | None:
    """Return how far it was behind the others when it last showed its head; of two others, one can't lie about that."""
    shown = provider.health.recent_head
    if shown is None:
        return None
    number, at = shown
    others = [one.health.recent_head for one in providers if one is not provider]
    heads = sorted(head for head, seen_at in filter(None, others) if seen_at < at + COMPARABLE_SECONDS)
    newest = heads[-2] if len(heads) > 1 else max(heads, default=number)
    return max(newest - number, 0)


def _fastest(providers: Sequence[Provider]) -> float:
    return min((latency for one in providers if (latency := one.health.latency) is not None), default=0.0)


def _lags(provider: Provider, blocks_behind: int | None) -> bool:
    return blocks_behind is not None and blocks_behind > provider.target.lagging_blocks


def _is_slow(provider: Provider, fastest: float) -> bool:
    latency = provider.health.latency
    return latency is not None and latency > max(SLOW_TIMES * fastest, SLOW_SECONDS)


def _state(provider: Provider, blocks_behind: int | None, fastest: float) -> ProviderState:
    health, head = provider.health, provider.health.head
    return ProviderState(
        network=provider.target.network,
        position=provider.position,
        status=_status(provider, blocks_behind, fastest),
        head_number=head.number if head is not None else None,
        head_timestamp=head.timestamp if head is not None else None,
        blocks_behind=blocks_behind,
        error_rate=health.error_rate,
        latency_seconds=health.latency,
        paused_for_seconds=health.paused_for_seconds,
        answered=health.answered,
        failed=health.failed,
        outvoted=health.outvoted,
    )


def _status(provider: Provider, blocks_behind: int | None, fastest: float) -> ProviderStatus:
    health = provider.health
    applying = {
        ProviderStatus.QUARANTINED: health.is_quarantined,
        ProviderStatus.WAITING: health.paused_for_seconds > 0,
        ProviderStatus.DISTRUSTED: health.is_distrusted,
        ProviderStatus.FAILING: health.is_open,
        ProviderStatus.LAGGING: _lags(provider, blocks_behind),
        ProviderStatus.UNRELIABLE: round(health.error_rate, 1) > 0,
        ProviderStatus.SLOW: _is_slow(provider, fastest),
        ProviderStatus.UNPROVEN: health.proven_at is None,
        ProviderStatus.HEALTHY: True,
    }
    return next(status for status, applies in applying.items() if applies)
