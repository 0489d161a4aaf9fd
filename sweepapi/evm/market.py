"""Reads what a build needs from the chain, in a number of round trips that does not grow with the number of tokens.

1. ``read_facts``: the head, the user's nonces at Permit2, each token's facts, and which pools exist.
2. ``read_quotes``: what every token would give in every pool, and whether an approval would need a reset first.
3. ``read_trials``: whether tokens deliver what is sent, and what the last hop would give for the sum of joined tokens.
4. ``read_trials`` again, if a token that was to be joined can't be, or if only a router can carry one.

Every token's reads are an ``eth_call`` of their own within the batch, so that a hostile token can't fail the others'.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm import responses
from sweepapi.evm.abi import Function
from sweepapi.evm.batch import PAUSED
from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import APPROVE, FACTS_READS, UNLIMITED, TokenFacts, facts_reads, token_facts
from sweepapi.evm.multicall import Read, multicall, plain_call
from sweepapi.evm.permit2 import NONCE_BITMAP
from sweepapi.evm.probe import Probe, grouped, transfer_probes
from sweepapi.evm.responses import Block
from sweepapi.evm.routes import finder
from sweepapi.evm.routes.candidates import Candidates, candidates
from sweepapi.evm.routes.finder import PoolKey
from sweepapi.evm.routes.planning import Way, Ways
from sweepapi.evm.routes.types import MAX_AMOUNT, PoolHop, Quote, Route, Swap
from sweepapi.evm.transfers import Arrival, Transfers
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError

APPROVAL_GAS_LIMIT = 1_000_000
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
    """The contract that a sweep is drafted for."""

    address: str
    requirements: Sequence[Requirement] = (NOT_PAUSED,)


@dataclass(frozen=True)
class Facts:
    """The results of the first round trip."""

    head: Block
    refusals: Sequence[str]  # the requirements of the contract that are not met
    used_permit_words: dict[int, int]  # Permit2's bitmap of the user by word position
    tokens: dict[str, TokenFacts]  # by address, the output token included; what is not a token is missing
    pools: dict[PoolKey, str]


@dataclass(frozen=True)
class Quotes:
    """The results of the second round trip."""

    ways: dict[str, Ways]  # by swept token
    needs_reset: dict[str, bool]  # by address: the token refuses to replace an allowance that is not zero


@dataclass(frozen=True)
class Detour:
    """The routes of a token that delivers less than is sent, through routers that swap what arrives."""

    routes: Sequence[Route]
    arrival: Arrival


@dataclass(frozen=True)
class Trials:
    """The results of the third round trip, and of the fourth."""

    transfers: Transfers
    last: Sequence[Quote[PoolHop] | None]  # the best quote of the last hop for each sum
    detours: Mapping[str, Quote[Route] | None]  # the best quote by token


@dataclass(frozen=True)
class Market:
    """One chain as seen by one build."""

    chain: Chain
    pool: ProviderPool
    wallet: str
    contract: Contract
    output: str  # an ERC-20: the wrapped coin where the user wants the native one

    def read_facts(self, *, swept: Iterable[str], permit_words: Sequence[int]) -> Facts:
        """Read everything that does not depend on prices."""
        places = {token: self._places(token) for token in (*swept, self.output)}
        calls = [
            Call("eth_getBlockByNumber", ("latest", False), responses.block),
            self._own_reads(permit_words),
            *(self._token_reads(token, at) for token, at in places.items()),
        ]
        head, own, *by_token = self.pool.batch(calls)
        requirements = self.contract.requirements
        state, words = own[: len(requirements)], own[len(requirements) :]
        return Facts(
            head=head,
            refusals=[one.refusal for one, (value,) in zip(requirements, state, strict=True) if value != one.value],
            used_permit_words={word: bits[0] for word, bits in zip(permit_words, words, strict=True)},
            tokens={
                token: known
                for token, answer in zip(places, by_token, strict=True)
                if (known := _facts(answer)) is not None
            },
            pools={
                place: pool
                for (token, at), answer in zip(places.items(), by_token, strict=True)
                for place, pool in _pools(at, answer).items()
            },
        )

    def read_quotes(self, *, amounts: Mapping[str, int], facts: Facts) -> Quotes:
        """Quote each amount in every pool there is; the wrapped coin needs no quote of its own."""
        found = {
            token: candidates(self.chain, token, self.output, facts.pools)
            for token, amount in amounts.items()
            if amount <= MAX_AMOUNT
        }
        calls = {
            token: self._quotes([(swap, amounts[token]) for swap in its.all]) for token, its in found.items() if its.all
        }
        resets = [token for token in amounts if 0 < facts.tokens[token].allowance < amounts[token]]
        raw = self.pool.batch([*calls.values(), *(self._approval(token) for token in resets)])
        answers = dict(zip(calls, raw, strict=False))
        refused = [isinstance(answer, CallFailedError) for answer in raw[len(calls) :]]
        return Quotes(
            ways={
                token: self._ways(token, amount, found.get(token), answers.get(token))
                for token, amount in amounts.items()
            },
            needs_reset=dict(zip(resets, refused, strict=True)),
        )

    def last_hops(self, facts: Facts) -> list[PoolHop]:
        """Return every pool that could swap the wrapped coin into the output."""
        return list(finder.pool_hops(self.chain.venues, self.chain.wrapped_native, self.output, facts.pools))

    def read_trials(
        self, *, probes: Iterable[Probe], sums: Sequence[int], facts: Facts, detours: Mapping[str, Detour] | None = None
    ) -> Trials:
        """Test transfers, and quote the last hop for these sums, and the detours for what arrives at their pools."""
        groups = list(grouped([one for one in dict.fromkeys(probes) if one.token != self.chain.wrapped_native]))
        hops = self.last_hops(facts) if any(sums) else []
        routed = detours or {}
        raw = iter(
            self.pool.batch(
                [transfer_probes(group, multicall3=self.chain.multicall3) for group in groups]
                + [self._quotes([(hop, amount) for amount in sums]) for hop in hops]
                + [self._quotes([(route, one.arrival.at_pool) for route in one.routes]) for one in routed.values()]
            )
        )
        transfers = {
            probe: test for group in groups for probe, test in zip(group, _results(next(raw), len(group)), strict=True)
        }
        by_hop = [_results(next(raw), len(sums)) for _ in hops]
        return Trials(
            transfers=Transfers(transfers),
            last=[finder.best_quote(hops, amount, [results[i] for results in by_hop]) for i, amount in enumerate(sums)],
            detours={
                token: finder.best_quote(one.routes, one.arrival.at_pool, _results(next(raw), len(one.routes)))
                for token, one in routed.items()
            },
        )

    def _places(self, token: str) -> list[PoolKey]:
        wrapped = self.chain.wrapped_native
        pairs = [(wrapped, token)] if token == self.output else [(token, self.output), (token, wrapped)]
        return finder.pool_keys(
            [*self.chain.venues, *self.chain.routers], [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
        )

    def _own_reads(self, permit_words: Sequence[int]) -> Call:
        bitmaps = [Read(self.chain.permit2, NONCE_BITMAP, (self.wallet, word)) for word in permit_words]
        state = [Read(self.contract.address, one.function) for one in self.contract.requirements]
        return multicall(multicall3=self.chain.multicall3, reads=[*state, *bitmaps], require_all=True)

    def _token_reads(self, token: str, at: Sequence[PoolKey]) -> Call:
        reads = facts_reads(token=token, wallet=self.wallet, spender=self.chain.permit2)
        return multicall(
            multicall3=self.chain.multicall3,
            reads=[*reads, *finder.pool_reads(at)],
            error_policy=ErrorPolicy.EXECUTION,
            gas=TOKEN_GAS_LIMIT,
        )

    def _ways(self, token: str, amount: int, found: Candidates | None, answer: Any) -> Ways:  # noqa: ANN401 - as of _facts
        if found is None:
            return Ways()
        if token == self.output:
            return Ways(direct=Way(None, amount))
        ways = found.ways(amount, _results(answer, len(found.all)))
        if token == self.chain.wrapped_native:
            return replace(ways, joined=Way(None, amount, is_joined=True))
        return ways

    def _quotes(self, swaps: Sequence[tuple[Swap, int]]) -> Call:
        reads = [finder.quote_read(swap, amount) for swap, amount in swaps]
        return multicall(multicall3=self.chain.multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION)

    def _approval(self, token: str) -> Call:
        arguments = (self.chain.permit2, UNLIMITED)
        return plain_call(function=APPROVE, to=token, arguments=arguments, sender=self.wallet, gas=APPROVAL_GAS_LIMIT)


def _facts(answer: Any) -> TokenFacts | None:  # noqa: ANN401 - a list of decoded reads, or the failure of all
    return None if isinstance(answer, CallFailedError) else token_facts(answer[:FACTS_READS])


def _pools(at: Sequence[PoolKey], answer: Any) -> dict[PoolKey, str]:  # noqa: ANN401 - as above
    return {} if isinstance(answer, CallFailedError) else finder.existing_pools(at, answer[FACTS_READS:])


def _results(answer: Any, count: int) -> list[Any]:  # noqa: ANN401 - as above, or None if nothing was read
    return answer if isinstance(answer, list) else [None] * count
