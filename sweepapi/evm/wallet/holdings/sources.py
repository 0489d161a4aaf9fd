"""The protocol of what names the tokens that a wallet may hold: the caller, the chain's list, logs, outside services.

A source gives addresses and is believed in nothing else: what is held is read from the chain. It says how far it got,
so that an answer can say what was searched, and a later request can go on from there.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.rpc import Call

MAX_LOOKED_AT = 6_000  # tokens that one request asks about

Position = Any  # JSON that a source understands: where it goes on; None for its beginning


class Cut(StrEnum):
    """Why a source did not name all that it knows."""

    BLOCKS = "blocks"  # only some blocks are searched
    TIME = "time"
    COUNT = "count"  # it names more tokens, or has more pages, than one request looks at
    CIRCLE = "circle"  # its pages lead back to an earlier one
    FAILURE = "failure"
    PAUSE = "pause"  # it is not asked, because it failed again and again, or limits our requests


@dataclass(frozen=True)
class Page:
    """What a source named at once."""

    tokens: Sequence[str]  # in EIP-55
    position: Position  # where the source goes on if this page is not looked at


@dataclass(frozen=True)
class SearchResult:
    """What a source named; it reached its end unless it was cut."""

    pages: Sequence[Page]
    cut: Cut | None = None
    goes_on_at: Position = None  # after these pages, if it goes on
    goes_on: bool = False
    blocks: tuple[int, int] | None = None  # the first and the last one that were searched; None if it knows no blocks

    @property
    def tokens(self) -> list[str]:
        return [token for page in self.pages for token in page.tokens]

    def within(self, room: int, *, known: AbstractSet[str]) -> "SearchResult":
        """Return the pages that name at most this many tokens that are not known yet."""
        named = set(known)
        for i, page in enumerate(self.pages):
            named.update(page.tokens)
            if len(named) > len(known) + room:
                kept = self.pages[:i]
                return replace(self, pages=kept, cut=Cut.COUNT, goes_on_at=page.position, goes_on=True)
        return self


class Search(Protocol):
    """One question to a source, which begins to answer at once."""

    @property
    def known(self) -> Sequence[str]:
        """The tokens that are named without waiting, so that the first round trip reads their balances."""

    def calls(self, head: int) -> Sequence[Call]:
        """Return what has to be read from the chain, in the second round trip; ``head`` is the newest block."""

    def found(self, answers: Sequence[Any]) -> SearchResult:
        """Return what was named, ``known`` included; ``answers`` are those to the calls, None where there is none."""


class TokenSource(Protocol):
    """What names tokens of wallets."""

    @property
    def name(self) -> HoldingsSource:
        """Its name in the chains file and in answers."""

    @property
    def knows_all(self) -> bool:
        """Whether it named every token of a wallet once it reached its end."""

    def search(self, wallet: str, position: Position) -> Search:
        """Begin to look for the tokens of a wallet."""


@dataclass(frozen=True)
class NamedTokens:
    """Tokens that are known from the start, of the caller or of the chain's list; a source and its only search."""

    name: HoldingsSource
    known: Sequence[str]
    knows_all: bool = False

    def search(self, wallet: str, position: Position) -> "NamedTokens":  # noqa: ARG002 - as ``TokenSource`` has it
        """Return the tokens: they are the same for any wallet."""
        return self

    def calls(self, head: int) -> Sequence[Call]:  # noqa: ARG002 - as above
        """Return none."""
        return ()

    def found(self, answers: Sequence[Any]) -> SearchResult:  # noqa: ARG002 - as above
        """Return the tokens."""
        return SearchResult([Page(self.known, None)])
