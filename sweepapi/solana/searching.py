"""Searches transactions by their reference keys, accounts that nothing else is known to name.

Anyone who sees a reference key can name it too, so everything that does is read, from the oldest on. That nothing more
can land is proven by the cluster: its final blocks are above the last valid height of the blockhash, and a provider
whose history reaches back to the build, asked at those blocks, lists nothing that was not read. A second provider has
to prove the same.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sweepapi.rpc import Provider, ProviderPool
from sweepapi.solana.history import PAGE, Head, Listed, Listing, head_calls, take_head
from sweepapi.solana.opinions import Found, ask_each, ask_one, needed, read

FIRST_PAGE = 20
MAX_PAGES = 10  # of a thousand
PAGES_AT_ONCE = 20
MAX_READ = 250  # transactions that name one key, in one look


@dataclass(frozen=True)
class Search:
    """A transaction that is searched by its reference key."""

    key: Hashable
    reference: str
    built_at_slot: int
    last_valid_height: int
    read_up_to: str  # a signature: it and everything older was read before; blank if nothing was
    is_overdue: bool  # so late that a provider which still can't see the end of its validity must be behind

    @property
    def listing(self) -> Listing:
        return Listing(self.reference, limit=FIRST_PAGE, until=self.read_up_to)


@dataclass(frozen=True)
class SearchSighting:
    """What was seen of a search."""

    head: Head
    found: tuple[Found, ...]  # oldest first
    read_up_to: str
    is_whole: bool  # everything that names the reference key was read
    is_dead: bool  # it is proven that nothing else can land


@dataclass
class _Progress:
    """What one look knows of a search so far."""

    search: Search
    provider: Provider | None = None  # that lists what names the key; None if none does
    listed: list[Listed] = field(default_factory=list)  # newest first
    reaches_end: bool = False  # nothing that is older is left to list
    found: dict[str, Found] = field(default_factory=dict)
    is_dead: bool = False

    def add(self, page: object, *, limit: int, provider: Provider) -> None:
        """Append the next page; a refusal says nothing, and nothing more is asked there."""
        self.provider = provider if isinstance(page, tuple) else None
        if isinstance(page, tuple):
            self.listed += page
            self.reaches_end = len(page) < limit

    @property
    def unread(self) -> list[Listed]:
        """What was listed and not read, oldest first."""
        return [one for one in reversed(self.listed) if one.signature not in self.found]

    @property
    def is_whole(self) -> bool:
        return self.reaches_end and not self.unread

    @property
    def read_up_to(self) -> str:
        """The newest final transaction such that all older ones were read too; blocks that are not final may change."""
        newest = self.search.read_up_to
        if not self.reaches_end:
            return newest
        for one in reversed(self.listed):
            if not one.is_final or one.signature not in self.found:
                break
            newest = one.signature
        return newest

    def sighting(self, head: Head) -> SearchSighting:
        by_position = sorted(self.found.values(), key=lambda one: one.landed.slot)
        return SearchSighting(head, tuple(by_position), self.read_up_to, self.is_whole, self.is_dead)


def search(
    pool: ProviderPool, provider: Provider, head: Head, searches: Sequence[Search], pages: Sequence[Any]
) -> dict[Hashable, SearchSighting]:
    """Return a sighting of each search, given what the provider listed for each as its first page."""
    looks = [_Progress(one) for one in searches]
    for one, page in zip(looks, pages, strict=True):
        one.add(page, limit=FIRST_PAGE, provider=provider)
    for other in pool.providers:
        refused = [one for one in looks if one.provider is None]
        if refused and other is not provider:  # it may keep the history that the first one does not
            _add_pages(pool, other, refused, [one.search.listing for one in refused])
    _list_on(pool, looks)
    _read(pool, provider, looks)
    _prove(pool, provider, head, looks)
    return {one.search.key: one.sighting(head) for one in looks}


def _add_pages(pool: ProviderPool, provider: Provider, looks: Sequence[_Progress], listings: Sequence[Listing]) -> None:
    pages = ask_one(pool, provider, [one.call for one in listings]) or [None] * len(looks)
    for one, listing, page in zip(looks, listings, pages, strict=True):
        one.add(page, limit=listing.limit, provider=provider)


def _list_on(pool: ProviderPool, looks: Sequence[_Progress]) -> None:
    """List what is older of keys that were named too often for one page, each at the same provider."""
    for _ in range(MAX_PAGES):
        for provider in pool.providers:
            unfinished = [one for one in looks if one.provider is provider and not one.reaches_end]
            for start in range(0, len(unfinished), PAGES_AT_ONCE):
                group = unfinished[start : start + PAGES_AT_ONCE]
                older = [replace(one.search.listing, limit=PAGE, before=one.listed[-1].signature) for one in group]
                _add_pages(pool, provider, group, older)


def _read(pool: ProviderPool, provider: Provider, looks: Sequence[_Progress]) -> None:
    """Read what was listed, each key's oldest transactions first."""
    wanted = [listed for one in looks for listed in one.unread[:MAX_READ]]
    found = read(pool, provider, wanted)
    for one in looks:
        one.found |= {listed.signature: found[listed.signature] for listed in one.unread if listed.signature in found}


def _prove(pool: ProviderPool, provider: Provider, head: Head, looks: Sequence[_Progress]) -> None:
    """Mark the searches that are proven to be over; read what only another provider listed."""
    over = [one for one in looks if one.search.is_overdue or head.final_height > one.search.last_valid_height]
    if not over:
        return
    listings = [replace(one.search.listing, min_context_slot=head.final_slot).call for one in over]
    opinions = [take_head(values) for values in ask_each(pool, [*head_calls(), *listings])]
    for i, one in enumerate(over):
        _judge(one, head, [(their_head, pages[i]) for their_head, pages in opinions], needed(pool))
    _read(pool, provider, over)


def _judge(one: _Progress, head: Head, opinions: Sequence[tuple[Head, Any]], wanted: int) -> None:
    known = {listed.signature for listed in one.listed}
    pages = [(their_head, page) for their_head, page in opinions if isinstance(page, tuple)]
    unknown = {listed.signature: listed for _, page in pages for listed in page if listed.signature not in known}
    if one.provider is None and not one.listed:
        one.reaches_end = any(len(page) < FIRST_PAGE for _, page in pages)
    one.listed = sorted([*unknown.values(), *one.listed], key=lambda listed: -listed.slot)
    proofs = [their_head for their_head, _ in pages if _reaches(one.search, their_head)]
    is_over = head.final_height > one.search.last_valid_height  # the pages are of that block, or later
    one.is_dead = is_over and one.is_whole and len(proofs) >= wanted


def _reaches(search: Search, head: Head) -> bool:
    """Whether a provider has the blocks from the build to above the last one in which the transaction is valid."""
    return head.first_slot <= search.built_at_slot and head.final_height > search.last_valid_height
