"""What was searched for a wallet's tokens, what was cut, and where a later request goes on."""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding.addresses import eip55
from sweepapi.evm.wallet.holdings.sources import Cut, Position, Search, SearchResult, TokenSource

_LENGTH = struct.Struct(">I")
_ADDRESS_BYTES = 20


class SourceStatus(StrEnum):
    """How far a source got."""

    COMPLETE = "complete"  # it named all that it knows
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"  # it named nothing


@dataclass(frozen=True)
class SourceCoverage:
    """What one source contributed."""

    name: HoldingsSource
    token_count: int  # that it named, and that were looked at
    cut: Cut | None  # None if it named all that it knows
    blocks: tuple[int, int] | None

    @property
    def status(self) -> SourceStatus:
        if self.cut is None:
            return SourceStatus.COMPLETE
        is_blank = self.token_count == 0 and self.blocks is None
        return SourceStatus.UNAVAILABLE if is_blank and self.cut is not Cut.COUNT else SourceStatus.PARTIAL

    @property
    def first_block(self) -> int | None:
        return None if self.blocks is None else self.blocks[0]

    @property
    def last_block(self) -> int | None:
        return None if self.blocks is None else self.blocks[1]


@dataclass(frozen=True)
class Continuation:
    """Where a reading of a wallet begins, or goes on."""

    positions: Mapping[str, Position]  # of the sources that have more to name, by their names
    left: Sequence[str] = ()  # tokens that seem to be held and were not read yet, the first ones first
    is_all_known: bool = False  # whether a source that knows all tokens reached its end before

    @classmethod
    def beginning(cls, sources: Sequence[TokenSource]) -> Self:
        """Return the beginning of all sources."""
        return cls({source.name: None for source in sources})

    @classmethod
    def decode(cls, encoded: bytes) -> Self:
        """Read a place that ``encode`` wrote; only ours may come here, so it is read as it is."""
        start = _LENGTH.size
        end = start + _LENGTH.unpack(encoded[:start])[0]
        positions, is_all_known = json.loads(encoded[start:end])
        left = range(end, len(encoded), _ADDRESS_BYTES)
        return cls(positions, [eip55(encoded[i : i + _ADDRESS_BYTES].hex()) for i in left], is_all_known)

    def encode(self) -> bytes:
        """Return the place as bytes."""
        searched = json.dumps([dict(self.positions), self.is_all_known], separators=(",", ":")).encode()
        return b"".join([_LENGTH.pack(len(searched)), searched, *(bytes.fromhex(token[2:]) for token in self.left)])

    def searches(self, sources: Sequence[TokenSource], wallet: str) -> list["Asked"]:
        """Begin the searches that go on here."""
        return [
            Asked(source, source.search(wallet, self.positions[source.name]))
            for source in sources
            if source.name in self.positions
        ]


@dataclass(frozen=True)
class Asked:
    """A source and what it is asked."""

    source: TokenSource
    search: Search


@dataclass(frozen=True)
class Looked:
    """A source and what it named, as far as there was room for it."""

    source: TokenSource
    found: SearchResult

    @property
    def knows_all(self) -> bool:
        """Whether it named every token of the wallet."""
        return self.source.knows_all and self.found.cut is None

    @property
    def coverage(self) -> SourceCoverage:
        return SourceCoverage(self.source.name, len(self.found.tokens), self.found.cut, self.found.blocks)


@dataclass(frozen=True)
class Coverage:
    """What a reading searched."""

    sources: Sequence[SourceCoverage]  # those that were asked
    following: Continuation | None  # None if there is nothing left to look at
    is_all_known: bool

    @classmethod
    def of(cls, looked: Sequence[Looked], *, left: Sequence[str], is_all_known: bool) -> Self:
        """Return the coverage of a reading with these tokens left; ``is_all_known`` is what was true before it."""
        is_all_known = is_all_known or any(one.knows_all for one in looked)
        going_on = [one for one in looked if one.found.goes_on and not is_all_known]
        positions: Mapping[str, Position] = {one.source.name: one.found.goes_on_at for one in going_on}
        following = Continuation(positions, left, is_all_known) if left or positions else None
        return cls([one.coverage for one in looked], following, is_all_known)

    @classmethod
    def without_search(cls, place: Continuation, *, left: Sequence[str]) -> Self:
        """Return the coverage of a page of tokens that were found before, of which these are left."""
        return cls([], replace(place, left=left), place.is_all_known)

    @property
    def left_count(self) -> int:
        """How many tokens seem to be held and are on later pages."""
        return 0 if self.following is None else len(self.following.left)

    @property
    def is_complete(self) -> bool:
        """Whether no token of the wallet is missing in this page and those before, as far as its sources know."""
        return self.is_all_known and self.left_count == 0
