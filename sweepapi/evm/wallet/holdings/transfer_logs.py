"""The tokens that a wallet received lately, from the logs of transfers to it in a bounded number of blocks.

Anyone can fill the logs. If there are too many, or a provider does not search them, only the tokens found there are
missing, and the coverage says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding import responses
from sweepapi.evm.tokens.erc20 import TRANSFER_TOPIC
from sweepapi.evm.wallet.holdings.sources import Cut, Page, Position, SearchResult
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError

MAX_LOGS = 20_000  # of one query
LATER_QUERIES = 10  # of a request that goes on: each is as long as the first one
ERC20_TOPICS = 3  # an ERC-721 has the same event with its id as another topic
PAGE_TOKENS = 500


@dataclass(frozen=True)
class TransferLogs:
    """The source; ``blocks`` is how many of them one query searches, because providers allow no more."""

    blocks: int
    name: HoldingsSource = HoldingsSource.TRANSFER_LOGS
    knows_all: bool = True  # from the first block on

    def search(self, wallet: str, position: Position) -> "TransferSearch":
        """Return the search that ends with the newest block, or that of a position that an earlier one returned."""
        return TransferSearch(wallet, self.blocks, *(position or ()))


@dataclass
class TransferSearch:
    """One search for the transfers to a wallet."""

    wallet: str
    blocks: int
    last_block: int | None = None  # None for the newest one
    queries: int = 1
    skipped: int = 0  # how many tokens of these blocks were looked at before
    known: Sequence[str] = ()
    _ranges: list[tuple[int, int]] = field(default_factory=list)  # of blocks, one a query, the newest first

    def calls(self, head: int) -> Sequence[Call]:
        """Return the queries."""
        last = head if self.last_block is None else self.last_block
        for end in range(last, max(last - self.queries * self.blocks, -1), -self.blocks):
            self._ranges.append((max(end - self.blocks + 1, 0), end))
        return [self._query(first, end) for first, end in self._ranges]

    def found(self, answers: Sequence[Any]) -> SearchResult:
        """Return the tokens of the queries that were answered, up to the first that was not."""
        tokens: dict[str, None] = {}
        searched: list[tuple[int, int]] = []
        for blocks, answer in zip(self._ranges, answers, strict=True):
            if not isinstance(answer, list):
                break
            tokens |= dict.fromkeys(answer)
            searched.append(blocks)
        if not searched:
            return SearchResult((), Cut.FAILURE)
        first, last = searched[-1][0], searched[0][1]
        named = list(tokens)
        starts = range(self.skipped, len(named), PAGE_TOKENS)
        return SearchResult(
            pages=[Page(named[i : i + PAGE_TOKENS], (last, len(searched), i)) for i in starts],
            cut=Cut.BLOCKS if first else None,
            goes_on_at=(first - 1, LATER_QUERIES),
            goes_on=first > 0,
            blocks=(first, last),
        )

    def _query(self, first: int, last: int) -> Call:
        query = {
            "fromBlock": hex(first),
            "toBlock": hex(last),
            "topics": [TRANSFER_TOPIC, None, f"0x{self.wallet[2:].lower():0>64}"],
        }
        return Call("eth_getLogs", (query,), _tokens, ErrorPolicy.ANY)


def _tokens(value: object) -> list[str]:
    """Return the tokens whose transfers a node found, the newest first; what is not an ERC-20 is found out later."""
    if not isinstance(value, list) or len(value) > MAX_LOGS:
        raise BadResponseError("expected fewer logs")
    found = {str(log.get("address")): None for log in reversed(value) if _is_of_erc20(log)}
    return [responses.address(address) for address in found]


def _is_of_erc20(log: object) -> bool:
    topics = log.get("topics") if isinstance(log, dict) else None
    return isinstance(topics, list) and len(topics) == ERC20_TOPICS
