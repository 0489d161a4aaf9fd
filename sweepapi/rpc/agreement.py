"""What providers conclude alike: two decide, and one that contradicts them is outvoted.

Of two providers that disagree neither is believed, so nothing closes until they agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog

from sweepapi.rpc.calls import Call
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.rpc.pool import ProviderPool
from sweepapi.rpc.provider import Provider

log = structlog.get_logger(__name__)


ConclusionT = TypeVar("ConclusionT")


@dataclass(frozen=True)
class Opinion(Generic[ConclusionT]):
    """What one provider led to; ``conclusion`` is None if it can't say, such as while it lags."""

    provider: Provider
    conclusion: ConclusionT | None  # comparable


@dataclass(frozen=True)
class Decision(Generic[ConclusionT]):
    """What enough providers concluded alike."""

    conclusion: ConclusionT | None  # None if there is none
    supporters: tuple[Provider, ...]
    dissenters: tuple[Provider, ...]  # that concluded something else; if nothing was decided, everyone who disagreed

    @property
    def is_disputed(self) -> bool:
        return bool(self.dissenters)


def decide(opinions: Sequence[Opinion[ConclusionT]], *, needed: int) -> Decision[ConclusionT]:
    """Return the conclusion of at least that many providers, if no other one has as many."""
    groups: list[list[Opinion[ConclusionT]]] = []
    for opinion in opinions:
        if opinion.conclusion is not None:
            alike = next((group for group in groups if group[0].conclusion == opinion.conclusion), None)
            if alike is None:
                groups.append([opinion])
            else:
                alike.append(opinion)
    groups.sort(key=len, reverse=True)
    is_decided = bool(groups) and len(groups[0]) >= needed and all(len(one) < len(groups[0]) for one in groups[1:])
    winners, others = (groups[0], groups[1:]) if is_decided else ([], groups if len(groups) > 1 else [])
    return Decision(
        conclusion=winners[0].conclusion if winners else None,
        supporters=tuple(one.provider for one in winners),
        dissenters=tuple(one.provider for group in others for one in group),
    )


def report(pool: ProviderPool, decision: Decision[ConclusionT], *, subject: object) -> None:
    """Raise the alert of a disagreement; it names those whom two others contradict."""
    if not decision.is_disputed:
        return
    outvoted = decision.dissenters if decision.supporters else ()
    for provider in outvoted:
        provider.health.note_outvoted()
    log.error(
        "providers_disagree",
        network=pool.providers[0].target.network,
        subject=str(subject),
        providers=sorted(one.position for one in (*decision.supporters, *decision.dissenters)),
        outvoted=[one.position for one in outvoted],
    )


def ask_agreed(pool: ProviderPool, calls: Sequence[Call]) -> list[Any]:
    """Return the results that enough providers show alike, of calls whose results are comparable.

    Raises ``ChainUnavailableError`` if too few answer, or do not show the same.
    """
    answers = pool.ask_all(calls)
    for results in answers:
        if answers.count(results) >= pool.needed:
            return results
    raise ChainUnavailableError("too few providers show the same")
