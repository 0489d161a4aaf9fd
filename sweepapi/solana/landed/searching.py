"""Searches for transactions by their reference keys: random keys that only the built transaction is meant to name.

Anyone who sees a reference key can name it too, so everything that does is read, from the oldest on. That nothing more
can land is proven by the cluster: its final blocks are above the last valid height of the blockhash, and a provider
whose history reaches back to the build, asked at those blocks, lists nothing that was not read. A second provider has
to prove the same.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from sweepapi.rpc import Provider, ProviderPool
from sweepapi.solana.landed.agreement import agree
from sweepapi.solana.landed.history import PAGE, ClusterHead, Listing, head_calls, take_head
from sweepapi.solana.landed.opinions import ask_each, ask_one, read
from sweepapi.solana.landed.progress import FIRST_PAGE, Progress, ReferenceSearch, SearchSighting

MAX_PAGES = 10  # of a thousand
PAGES_AT_ONCE = 20
MAX_READ = 250  # transactions that name one key, in one reading
MAX_READ_AT_ONCE = 1_000  # of all keys


def search(
    pool: ProviderPool, provider: Provider, head: ClusterHead, searches: Sequence[ReferenceSearch], pages: Sequence[Any]
) -> dict[Hashable, SearchSighting]:
    """Return a sighting of each search, given what the provider listed for each as its first page."""
    running = [Progress(one) for one in searches]
    for one, page in zip(running, pages, strict=True):
        one.add(page, limit=FIRST_PAGE, provider=provider)
    for other in pool.providers:
        refused = [one for one in running if one.provider is None]
        if refused and other is not provider:  # it may keep the history that the first one does not
            _add_pages(pool, other, refused, [one.search.listing for one in refused])
    _list_on(pool, running)
    _read(pool, provider, running)
    _prove(pool, provider, head, [one for one in running if not one.is_executed])
    agree(pool, [one for one in running if not one.is_executed])
    return {one.search.key: one.sighting(head) for one in running}


def _add_pages(
    pool: ProviderPool, provider: Provider, running: Sequence[Progress], listings: Sequence[Listing]
) -> None:
    pages = ask_one(pool, provider, [one.call for one in listings]) or [None] * len(running)
    for one, listing, page in zip(running, listings, pages, strict=True):
        one.add(page, limit=listing.limit, provider=provider)


def _list_on(pool: ProviderPool, running: Sequence[Progress]) -> None:
    """List what is older of keys that were named too often for one page, each at the same provider."""
    for _ in range(MAX_PAGES):
        for provider in pool.providers:
            unfinished = [one for one in running if one.provider is provider and not one.reaches_end]
            for start in range(0, len(unfinished), PAGES_AT_ONCE):
                group = unfinished[start : start + PAGES_AT_ONCE]
                older = [replace(one.search.listing, limit=PAGE, before=one.listed[-1].signature) for one in group]
                _add_pages(pool, provider, group, older)


def _read(pool: ProviderPool, provider: Provider, running: Sequence[Progress]) -> None:
    """Read what was listed, the oldest of each key first; keys take turns, so none takes all of the reading."""
    turns = zip_longest(*(one.unread[:MAX_READ] for one in running))
    wanted = [listed for listed in chain.from_iterable(turns) if listed is not None][:MAX_READ_AT_ONCE]
    found = read(pool, provider, wanted)
    for one in running:
        one.found |= {listed.signature: found[listed.signature] for listed in one.unread if listed.signature in found}


def _prove(pool: ProviderPool, provider: Provider, head: ClusterHead, running: Sequence[Progress]) -> None:
    """Mark the searches that are proven to be over; read what only another provider listed."""
    over = [one for one in running if one.search.is_overdue or head.final_height > one.search.awaited_until_height]
    if not over:
        return
    listings = [replace(one.search.listing, limit=PAGE, min_context_slot=head.final_slot).call for one in over]
    opinions = [take_head(values) for values in ask_each(pool, [*head_calls(), *listings]).values()]
    for i, one in enumerate(over):
        _decide(one, head, [(their_head, pages[i]) for their_head, pages in opinions], pool.needed)
    _read(pool, provider, over)


def _decide(one: Progress, head: ClusterHead, opinions: Sequence[tuple[ClusterHead, Any]], required: int) -> None:
    pages = [(their_head, page) for their_head, page in opinions if isinstance(page, tuple)]
    whole = [(their_head, page) for their_head, page in pages if len(page) < PAGE]
    if one.provider is None and not one.listed:
        one.reaches_end = bool(whole)
    one.replace_unread(
        {listed.signature: listed for _, page in pages for listed in page if listed.signature not in one.found}
    )
    proofs = [their_head for their_head, _ in whole if _reaches(one.search, their_head)]
    is_over = head.final_height > one.search.awaited_until_height  # the pages are of that block, or later
    one.is_expired = is_over and one.is_whole and len(proofs) >= required


def _reaches(search: ReferenceSearch, head: ClusterHead) -> bool:
    """Whether a provider has the blocks from the build to above the last one in which the transaction is awaited."""
    return head.first_slot <= search.built_at_slot and head.final_height > search.awaited_until_height
