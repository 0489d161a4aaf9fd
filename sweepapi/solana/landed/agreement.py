"""Compares providers before a search ends, or its cursor passes transactions that are then never read again.

A provider that lies could otherwise hide a transaction, or show it as a failed one, until the cursor has passed it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sweepapi.rpc import Provider, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.solana.landed.history import PAGE, Listed, Listing
from sweepapi.solana.landed.opinions import Found, ask_one, read_from
from sweepapi.solana.landed.progress import Progress


@dataclass(frozen=True)
class _ClusterOpinion:
    """What one provider shows of what was read."""

    provider: Provider
    found: Mapping[str, Found]  # by signature
    pages: Sequence[object]  # by search: what it lists up to the newest that may be passed


def agree(pool: ProviderPool, running: Sequence[Progress]) -> None:
    """Move each cursor past what enough providers show alike; a search that they disagree about has not ended."""
    doubtful = [one for one in running if one.passable or (one.is_expired and one.found)]
    if pool.needed == 1:
        for one in doubtful:
            _pass(one, one.passable)
    elif doubtful:
        opinions = [_opinion(pool, provider, doubtful) for provider in pool.providers]
        for i, one in enumerate(doubtful):
            agreed = _agreed(pool, one, opinions)
            _conclude(one, agreed, [opinion.pages[i] for opinion in opinions], pool.needed)


def _opinion(pool: ProviderPool, provider: Provider, running: Sequence[Progress]) -> _ClusterOpinion:
    pages = ask_one(pool, provider, [_passable_listing(one).call for one in running])
    read = [listed for one in running for listed in one.listed if listed.signature in one.found]
    return _ClusterOpinion(
        provider,
        found={} if pages is None else read_from(pool, provider, read, commitment="confirmed"),
        pages=[None] * len(running) if pages is None else pages,
    )


def _passable_listing(one: Progress) -> Listing:
    """Return the listing that begins with the newest that may be passed: with what is older than the next one."""
    newer = one.listed[: len(one.listed) - len(one.passable)]
    return replace(one.search.listing, limit=PAGE, before=newer[-1].signature if newer else "")


def _agreed(pool: ProviderPool, one: Progress, opinions: Sequence[_ClusterOpinion]) -> set[str]:
    """Return the signatures of those that were found which enough providers show as they were found."""
    agreed = set()
    for signature, found in one.found.items():
        shown = [Opinion(opinion.provider, opinion.found.get(signature)) for opinion in opinions]
        decision = decide(shown, needed=pool.needed)
        report(pool, decision, subject=signature)
        if decision.conclusion == found:
            agreed.add(signature)
    return agreed


def _conclude(one: Progress, agreed: set[str], pages: Sequence[object], required: int) -> None:
    one.is_expired = one.is_expired and agreed >= one.found.keys()
    passed: list[Listed] = []
    for listed in one.passable:
        if listed.signature not in agreed:
            break
        passed.append(listed)
    # Which provider was asked first decides what is listed, so the newest may be known to that one alone.
    while passed and sum(_lists_only(page, passed) for page in pages) < required:
        passed.pop()
    _pass(one, passed)


def _lists_only(page: object, passed: Sequence[Listed]) -> bool:
    """Whether a provider lists nothing else up to the newest of these, and all of it in final blocks."""
    if not isinstance(page, tuple) or len(page) == PAGE:
        return False
    known = {one.signature for one in passed}
    newer = [one.signature for one in page]
    older = page[newer.index(passed[-1].signature) :] if passed[-1].signature in newer else ()
    return bool(older) and all(one.is_final and one.signature in known for one in older)


def _pass(one: Progress, passed: Sequence[Listed]) -> None:
    if passed:
        one.read_up_to = passed[-1].signature
