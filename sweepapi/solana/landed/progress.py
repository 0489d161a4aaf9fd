"""A search by a reference key: what is searched for, what one reading knows so far, and what it concludes."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from sweepapi.rpc import Provider
from sweepapi.solana.landed.history import ClusterHead, Listed, Listing
from sweepapi.solana.landed.opinions import Found
from sweepapi.solana.landed.transactions import Landed

FIRST_PAGE = 20


@dataclass(frozen=True)
class ReferenceSearch:
    """A search for a transaction by its reference key."""

    key: Hashable
    reference: str
    built_at_slot: int
    awaited_until_height: int  # of a block: if it is not in this one or one below, the search has ended
    read_up_to: str  # a signature: it and everything older was read before; blank if nothing was
    is_overdue: bool  # so late that a provider which has not reached that height must be behind
    executes: Callable[[Landed], bool] = field(compare=False)  # is it the one searched for, and did it succeed

    @property
    def listing(self) -> Listing:
        return Listing(self.reference, limit=FIRST_PAGE, until=self.read_up_to)


@dataclass(frozen=True)
class SearchSighting:
    """What was read of a search."""

    head: ClusterHead
    found: tuple[Found, ...]  # oldest first
    read_up_to: str
    is_whole: bool  # everything that names the reference key was read
    is_expired: bool  # it is proven that nothing can land any more


@dataclass
class Progress:
    """What one reading knows of a search so far."""

    search: ReferenceSearch
    provider: Provider | None = None  # that lists what names the key; None if none does
    listed: list[Listed] = field(default_factory=list)  # newest first
    reaches_end: bool = False  # nothing that is older is left to list
    found: dict[str, Found] = field(default_factory=dict)
    read_up_to: str = ""
    is_expired: bool = False

    def __post_init__(self) -> None:
        self.read_up_to = self.search.read_up_to

    def add(self, page: object, *, limit: int, provider: Provider) -> None:
        """Append the next page; a refusal says nothing, and nothing more is asked there."""
        self.provider = provider if isinstance(page, tuple) else None
        if isinstance(page, tuple):
            self.listed += page
            self.reaches_end = len(page) < limit

    def replace_unread(self, shown: dict[str, Listed]) -> None:
        """Put these in the place of what could not be read where it was listed."""
        kept = [one for one in self.listed if one.signature not in shown]
        self.listed = sorted([*shown.values(), *kept], key=lambda one: -one.slot)

    @property
    def unread(self) -> list[Listed]:
        """What was listed and not read, oldest first."""
        return [one for one in reversed(self.listed) if one.signature not in self.found]

    @property
    def is_whole(self) -> bool:
        return self.reaches_end and not self.unread

    @property
    def is_executed(self) -> bool:
        return any(self.search.executes(one.landed) for one in self.found.values())

    @property
    def passable(self) -> list[Listed]:
        """Final transactions that were read, as all older ones were, oldest first; other blocks may change."""
        passable: list[Listed] = []
        if self.reaches_end:
            for one in reversed(self.listed):
                if not one.is_final or one.signature not in self.found:
                    break
                passable.append(one)
        return passable

    def sighting(self, head: ClusterHead) -> SearchSighting:
        by_position = sorted(self.found.values(), key=lambda one: one.landed.slot)
        return SearchSighting(head, tuple(by_position), self.read_up_to, self.is_whole, self.is_expired)
