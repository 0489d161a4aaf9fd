"""Reads which of the tokens that sources name a wallet holds, and puts those first that are worth looking at.

At most three round trips, of which the sources outside take none:

1. The balances of what is known at once, in ``eth_call``s of hundreds. A token that burns all gas takes the answers of
   others in its call with it.
2. The tokens without an answer, in small groups, and the logs. Callers ask what still has no answer one by one.
3. Only if many tokens were named: which of the new ones are held, and which have a pool.

A wallet can be filled with thousands of worthless tokens. So listed tokens come first, then those that have a pool, and
what a page has no room for is left for the next one.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.abi_encoding import WORD_BYTES
from sweepapi.evm.tokens.erc20 import BALANCE_OF
from sweepapi.evm.trial.attempts import MAX_GAS
from sweepapi.evm.wallet.holdings.coverage import Asked, Continuation, Coverage, Looked
from sweepapi.evm.wallet.holdings.sources import MAX_LOOKED_AT, TokenSource
from sweepapi.evm.wallet.holdings.survey import BALANCE_GAS, held_calls, pooled_calls
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError

MAX_HELD = 500  # tokens of a page
MAX_CANDIDATES = 2_000  # that a caller may name
KNOWN_GROUP, SMALL_GROUP = 500, 8  # balances in one call
MOST_UNREAD = 50  # new tokens whose balances are not worth a round trip: callers read them, too
MANY = 200  # tokens, of which it pays to know which have a pool: to look up all pools of each would take megabytes


class _BalanceOf(Function):
    """Decodes what is not a balance, as of an account without code, instead of taking it for a call that failed."""

    def decode(self, output: bytes) -> tuple[int | None]:
        """Return the balance, or None."""
        return (int.from_bytes(output[:WORD_BYTES]),) if len(output) >= WORD_BYTES else (None,)


_BALANCE_OF = _BalanceOf(BALANCE_OF.signature)


@dataclass(frozen=True)
class Holdings:
    """The tokens of a page, which callers read again."""

    tokens: Sequence[str]  # with a balance, or that failed to answer among others, or that were not asked
    without_balance: Sequence[str]  # of those that were known at once: what is not a token
    named: Sequence[str]  # those that were known at once
    without_pools: AbstractSet[str]  # tokens that can't be sold, as far as that was asked
    coverage: Coverage


@dataclass(frozen=True)
class _Surveyed:
    """What is held, and what of it has no pool."""

    held: Sequence[str]
    without_pools: AbstractSet[str]


@dataclass(frozen=True)
class WalletReading:
    """A reading of one wallet."""

    chain: Chain
    pool: ProviderPool
    wallet: str
    sources: Sequence[TokenSource]  # what they name first is looked at first
    is_listed: Callable[[str], bool]
    output: str  # an ERC-20, for which the tokens are to be sold

    def find(self, place: Continuation, *, exclude: str) -> Holdings:
        """Find what the wallet holds, without the token that is excluded; raises ``ChainUnavailableError``."""
        page, rest = place.left[:MAX_HELD], place.left[MAX_HELD:]
        asked = [] if rest else place.searches(self.sources, self.wallet)
        named = [*page, *(token for one in asked for token in one.search.known)]
        known = [token for token in dict.fromkeys(named) if token != exclude]
        head, *answers = self.pool.batch([head_call(), *self._balance_calls(known, group=KNOWN_GROUP)])
        balances = _balances(answers)
        looked, second = self._second_read(asked, head.number, [token for token in known if token not in balances])
        balances |= second
        old = {*known, exclude}
        looked = _within(looked, MAX_LOOKED_AT - len(known), known=old)
        new = [token for token in dict.fromkeys(_tokens(looked)) if token not in old]
        surveyed = self._survey([token for token in known if balances.get(token, 1)], new)
        held = surveyed.held
        return Holdings(
            tokens=held[:MAX_HELD],
            without_balance=[token for token in known if balances.get(token, 0) is None],
            named=known,
            without_pools=surveyed.without_pools,
            coverage=Coverage.without_search(place, left=rest)
            if rest
            else Coverage.of(looked, left=held[MAX_HELD:], is_all_known=place.is_all_known),
        )

    def _second_read(
        self, asked: Sequence[Asked], head: int, silent: Sequence[str]
    ) -> tuple[list[Looked], dict[str, int | None]]:
        """Return what the sources named, for which this waits, and the balances of silent tokens."""
        by_source = [one.search.calls(head) for one in asked]
        searched = [call for calls in by_source for call in calls]
        balances = self._balance_calls(silent, group=SMALL_GROUP)
        try:
            answers = self.pool.batch([*searched, *balances])
        except ChainUnavailableError:
            # Anyone can fill the logs; the answer to this query may be what no provider can deliver.
            answers = [*([None] * len(searched)), *self.pool.batch(balances)]
        looked, start = [], 0
        for one, calls in zip(asked, by_source, strict=True):
            looked.append(Looked(one.source, one.search.found(answers[start : start + len(calls)])))
            start += len(calls)
        return looked, _balances(answers[start:])

    def _survey(self, held: Sequence[str], new: Sequence[str]) -> "_Surveyed":
        """Return what is held with the new tokens that are; if these are many, the best first."""
        every = [*held, *new]
        are_many = len(every) > MANY
        if not are_many and len(new) <= MOST_UNREAD:
            return _Surveyed(every, frozenset())
        listed = set(filter(self.is_listed, every))
        unlisted = [token for token in every if token not in listed] if are_many else []
        about_new = held_calls(new, wallet=self.wallet)
        about_pools = pooled_calls(unlisted, chain=self.chain, output=self.output)
        answers = self.pool.batch([*about_new, *about_pools])
        held_too, with_pools = _said(answers[: len(about_new)]), _said(answers[len(about_new) :])
        without_pools = set() if with_pools is None else set(unlisted) - set(with_pools)
        all_held = [*held, *(new if held_too is None else held_too)]
        best_first = sorted(all_held, key=lambda token: (token not in listed, token in without_pools))
        return _Surveyed(best_first, without_pools)

    def _balance_calls(self, tokens: Sequence[str], *, group: int) -> list[Call]:
        parts = [tokens[start : start + group] for start in range(0, len(tokens), group)]
        return [self._balance_call(part) for part in parts]

    def _balance_call(self, tokens: Sequence[str]) -> Call:
        call = multicall(
            multicall3=self.chain.multicall3,
            reads=[Read(token, _BALANCE_OF, (self.wallet,)) for token in tokens],
            error_policy=ErrorPolicy.EXECUTION,
            gas=min(BALANCE_GAS * len(tokens), MAX_GAS),
        )

        def decode(value: object) -> dict[str, int | None]:
            results = call.decode(value)
            return {token: one[0] for token, one in zip(tokens, results, strict=True) if one is not None}

        return Call(call.method, call.params, decode, ErrorPolicy.EXECUTION)


def _balances(answers: Sequence[Any]) -> dict[str, int | None]:
    """Return the balances that calls show, None for what is not a token; a token whose call failed is missing."""
    found: dict[str, int | None] = {}
    for answer in answers:
        if answer is not None and not isinstance(answer, CallFailedError):
            found |= answer
    return found


def _said(answers: Sequence[Any]) -> list[str] | None:
    """Return the tokens that surveys found; None without all their answers."""
    if any(isinstance(answer, CallFailedError) for answer in answers):
        return None
    return [token for answer in answers for token in answer]


def _tokens(looked: Sequence[Looked]) -> Iterator[str]:
    for one in looked:
        yield from one.found.tokens


def _within(looked: Sequence[Looked], room: int, *, known: set[str]) -> list[Looked]:
    """Return what the sources named as far as there is room, in their order."""
    kept = []
    for one in looked:
        found = one.found.within(room, known=known)
        new = set(found.tokens) - known
        room, known = room - len(new), known | new
        kept.append(Looked(one.source, found))
    return kept
