"""Reads what a build needs from the chain, in a number of round trips that does not grow with the number of tokens.

1. ``read_facts``: the head, the user's nonces at Permit2, each token's facts, and which pools exist.
2. ``read_quotes``: what every token would give in every pool, the pools' prices before that, whether tokens deliver
   what is sent, what the transaction's data would cost, and how the user can approve the sweep.
3. ``read_follow_ups``: what pools that tokens share would give for their sums, and routers for what arrives of the
   tokens that no pool can be called for.

Every token's reads are an ``eth_call`` of their own within the batch, so that a hostile token can't fail the others'.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.gas_price import gas_price_calls, gas_price_of
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.contracts.batch import PAUSED
from sweepapi.evm.contracts.permit2 import NONCE_BITMAP
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.responses import Block, GasPrice
from sweepapi.evm.market.lasting import LastingFacts, TokenLookup
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.finder import PoolKey
from sweepapi.evm.pools.types import PoolHop, Quote, Swap
from sweepapi.evm.routes.detours import Detour
from sweepapi.evm.routes.planning import Way
from sweepapi.evm.routes.quoting import QuoteReads, Quotes
from sweepapi.evm.tokens.erc20 import TokenFacts, account_reads
from sweepapi.evm.wallet.approvals import ApprovalReads
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool

QUOTES_PER_CALL = 60  # so that a call stays below the gas that nodes allow
# Fifty times what a token needs for its facts; it bounds what a hostile one can make the node compute and send.
TOKEN_GAS_LIMIT = 2_000_000


@dataclass(frozen=True)
class Requirement:
    """A view of the contract without arguments, and what it must return for a sweep to be executed."""

    function: Function
    value: object  # an address in lower case
    refusal: str  # a sentence for partners, if it returns anything else


NOT_PAUSED = Requirement(PAUSED, False, "The contract is paused.")  # noqa: FBT003 - a value to compare with


@dataclass(frozen=True)
class Contract:
    """The contract that a sweep is planned for."""

    address: str
    requirements: Sequence[Requirement] = (NOT_PAUSED,)


@dataclass(frozen=True)
class MarketFacts:
    """The results of the first round trip."""

    head: Block
    refusals: Sequence[str]  # the requirements of the contract that are not met
    gas_price: GasPrice | None  # None if the provider did not report it
    native_balance: int  # of the user, in wei
    used_permit_words: dict[int, int]  # Permit2's bitmap of the user by word position
    tokens: dict[str, TokenFacts]  # by address, the output and the reference token included; only what is a token
    pools: dict[PoolKey, str]
    code: bytes  # of the user's account


@dataclass(frozen=True)
class FollowUpQuotes:
    """The results of the third round trip."""

    second: Mapping[tuple[str, int], Quote[PoolHop]]  # of pools from middle tokens into the output, by pool and amount
    detours: Mapping[str, Way]  # the best by token


@dataclass(frozen=True)
class Market:
    """One chain as seen by one build."""

    chain: Chain
    pool: ProviderPool
    lasting: LastingFacts  # of this chain, shared with other builds
    wallet: str
    contract: Contract
    output: str  # an ERC-20: the wrapped coin where the user wants the native one

    def read_facts(
        self, *, swept: Iterable[str], permit_words: Sequence[int], without_pools: AbstractSet[str] = frozenset()
    ) -> MarketFacts:
        """Read everything that does not depend on prices; pools of tokens that have none are not looked up."""
        tokens = tuple(swept)
        named = (*tokens, self.output, self.chain.reference_token)
        places = {token: [] if token in without_pools else self._places(token, tokens) for token in named}
        lookups = self.lasting.lookups(places)
        calls = [
            head_call(),
            *(price_calls := gas_price_calls()),
            Call("eth_getBalance", (self.wallet, "latest"), responses.quantity),
            Call("eth_getCode", (self.wallet, "latest"), responses.data),
            self._own_reads(permit_words),
            *(self._token_reads(lookup) for lookup in lookups),
        ]
        head, *values = self.pool.batch(calls)
        prices, (native_balance, code, own, *by_token) = values[: len(price_calls)], values[len(price_calls) :]
        answers = [lookup.answered(answer) for lookup, answer in zip(lookups, by_token, strict=True)]
        self.lasting.keep(answers)
        requirements = self.contract.requirements
        state, words = own[: len(requirements)], own[len(requirements) :]
        return MarketFacts(
            head=head,
            refusals=[one.refusal for one, (value,) in zip(requirements, state, strict=True) if value != one.value],
            gas_price=gas_price_of(head, prices),
            native_balance=native_balance,
            used_permit_words={word: bits[0] for word, bits in zip(permit_words, words, strict=True)},
            tokens={answer.token: answer.facts for answer in answers if answer.facts is not None},
            pools={place: pool for answer in answers for place, pool in answer.pools.items()},
            code=code,
        )

    def read_quotes(self, *, amounts: Mapping[str, int], facts: MarketFacts) -> Quotes:
        """Quote each amount in every pool there is, and test transfers and approvals; see ``QuoteReads``."""
        reads = QuoteReads(
            chain=self.chain,
            wallet=self.wallet,
            output=self.output,
            amounts=amounts,
            tokens=facts.tokens,
            pools=facts.pools,
            gas_price=0 if facts.gas_price is None else facts.gas_price.wei,
        )
        calls = reads.calls
        approvals = self._approval_reads(amounts, facts)
        answers = self.pool.batch([*calls, *approvals.calls])
        return replace(reads.quotes(answers), approvals=approvals.facts(answers[len(calls) :]))

    def read_follow_ups(
        self, *, amounts: Mapping[PoolHop, Sequence[int]], detours: Mapping[str, Sequence[Detour]]
    ) -> FollowUpQuotes:
        """Quote second hops for these amounts, and detours for what arrives at their pools."""
        parts = list(_parts(amounts))
        raw = iter(
            self.pool.batch(
                [self._quotes([(hop, amount) for amount in part]) for hop, part in parts]
                + [self._quotes([(one.route, one.arrival.at_pool) for one in found]) for found in detours.values()]
            )
        )
        second = {
            (hop.pool, amount): finder.quoted(hop, amount, result)
            for hop, part in parts
            for amount, result in zip(part, _results(next(raw), len(part)), strict=True)
        }
        routed = {token: _best_detour(found, _results(next(raw), len(found))) for token, found in detours.items()}
        return FollowUpQuotes(
            second={key: quote for key, quote in second.items() if quote is not None},
            detours={token: way for token, way in routed.items() if way is not None},
        )

    def _places(self, token: str, swept: Sequence[str]) -> list[PoolKey]:
        wrapped = self.chain.wrapped_native
        needs_way = token in swept and token != self.output
        middles = self.chain.middle_tokens
        if needs_way:
            pairs = [(token, self.output), *((token, middle) for middle in middles)]
        elif token == self.output:
            pairs = [(middle, token) for middle in middles]
        else:
            pairs = [(wrapped, token)]
        return finder.pool_keys(
            [*self.chain.venues, *self.chain.routers], [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
        )

    def _own_reads(self, permit_words: Sequence[int]) -> Call:
        bitmaps = [Read(self.chain.permit2, NONCE_BITMAP, (self.wallet, word)) for word in permit_words]
        state = [Read(self.contract.address, one.function) for one in self.contract.requirements]
        return multicall(multicall3=self.chain.multicall3, reads=[*state, *bitmaps], require_all=True)

    def _token_reads(self, lookup: TokenLookup) -> Call:
        account = account_reads(
            token=lookup.token, wallet=self.wallet, permit2=self.chain.permit2, contract=self.contract.address
        )
        return multicall(
            multicall3=self.chain.multicall3,
            reads=[*account, *lookup.reads],
            error_policy=ErrorPolicy.EXECUTION,
            gas=TOKEN_GAS_LIMIT,
        )

    def _quotes(self, swaps: Sequence[tuple[Swap, int]]) -> Call:
        reads = [finder.quote_read(swap, amount) for swap, amount in swaps]
        return multicall(multicall3=self.chain.multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION)

    def _approval_reads(self, amounts: Mapping[str, int], facts: MarketFacts) -> ApprovalReads:
        return ApprovalReads(
            chain_id=self.chain.chain_id,
            multicall3=self.chain.multicall3,
            permit2=self.chain.permit2,
            contract=self.contract.address,
            wallet=self.wallet,
            code=facts.code,
            amounts=amounts,
            tokens=facts.tokens,
        )


def _parts(amounts: Mapping[PoolHop, Sequence[int]]) -> Iterator[tuple[PoolHop, Sequence[int]]]:
    """Yield the pools with as many of their amounts as one call can quote."""
    for hop, quoted in amounts.items():
        for start in range(0, len(quoted), QUOTES_PER_CALL):
            yield hop, quoted[start : start + QUOTES_PER_CALL]


def _best_detour(detours: Sequence[Detour], results: Sequence[Any]) -> Way | None:
    quotes = [
        finder.quoted(one.route, one.arrival.at_pool, result) for one, result in zip(detours, results, strict=True)
    ]
    ways = [one.way(quote) for one, quote in zip(detours, quotes, strict=True) if quote is not None]
    return max(ways, key=lambda way: way.output, default=None)


def _results(answer: Any, count: int) -> list[Any]:  # noqa: ANN401 - as above, or None if nothing was read
    return answer if isinstance(answer, list) else [None] * count
