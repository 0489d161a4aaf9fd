"""Reads what a build needs from the chain, in a number of round trips that does not grow with the number of tokens.

1. ``read_facts``: the head, the user's nonces at Permit2, each token's facts, and which pools exist.
2. ``read_quotes``: every token's price over every route, and whether an approval would need a reset first.
3. ``read_transfers``: whether unvetted tokens deliver what is sent.

Every token's reads are an ``eth_call`` of their own within the batch, so that a hostile token can't fail the others'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm import responses
from sweepapi.evm.abi import Function
from sweepapi.evm.batch import PAUSED
from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import APPROVE, FACTS_READS, UNLIMITED, TokenFacts, facts_reads, token_facts
from sweepapi.evm.multicall import Read, multicall, plain_call
from sweepapi.evm.permit2 import NONCE_BITMAP
from sweepapi.evm.probe import Probe, TransferTest, transfer_probe
from sweepapi.evm.responses import Block
from sweepapi.evm.routes import finder
from sweepapi.evm.routes.finder import PoolKey
from sweepapi.evm.routes.types import Quote, Route
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError
from sweeps.rails.rail import TokenInput

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

    best: dict[str, Quote | None]  # by address; None if no route can swap the amount
    needs_reset: dict[str, bool]  # by address: the token refuses to replace an allowance that is not zero


@dataclass(frozen=True)
class Market:
    """One chain as seen by one build."""

    chain: Chain
    pool: ProviderPool
    wallet: str
    contract: Contract
    output: str  # an ERC-20: the wrapped coin where the user wants the native one

    def read_facts(self, *, swept: Sequence[TokenInput], permit_words: Sequence[int]) -> Facts:
        """Read everything that does not depend on prices."""
        places = {token: self._places(token) for token in (*(s.asset for s in swept), self.output)}
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

    def read_quotes(self, *, swept: Sequence[TokenInput], facts: Facts) -> Quotes:
        """Price every token over every route there is; the wrapped coin for native output needs no swap."""
        routes = {s.asset: self._routes(s.asset, facts.pools) for s in swept if s.asset != self.output}
        resets = [s.asset for s in swept if _replaces_allowance(s, facts)]
        priced = [s for s in swept if routes.get(s.asset)]
        raw = self.pool.batch(
            [self._quote_reads(routes[s.asset], s.amount) for s in priced] + [self._approval(asset) for asset in resets]
        )
        best = {
            s.asset: None if isinstance(answer, CallFailedError) else finder.best_quote(routes[s.asset], answer)
            for s, answer in zip(priced, raw, strict=False)
        }
        refused = [isinstance(answer, CallFailedError) for answer in raw[len(priced) :]]
        return Quotes(best=best, needs_reset=dict(zip(resets, refused, strict=True)))

    def read_transfers(self, *, probes: Sequence[Probe], facts: Facts) -> dict[Probe, TransferTest | CallFailedError]:
        """Test the transfers of unvetted tokens; the probes of others are left out."""
        needed = [
            probe
            for probe in probes
            if probe.token not in self.chain.vetted_tokens and probe.token != self.chain.wrapped_native
        ]
        calls = [transfer_probe(probe, max_amount=_probe_amount(probe.token, facts)) for probe in needed]
        return dict(zip(needed, self.pool.batch(calls), strict=True))

    def _places(self, token: str) -> list[PoolKey]:
        wrapped = self.chain.wrapped_native
        pairs = [(wrapped, token)] if token == self.output else [(token, self.output), (token, wrapped)]
        return finder.pool_keys(self.chain.routers, [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]])

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

    def _routes(self, token: str, pools: Mapping[PoolKey, str]) -> list[Route]:
        return [
            route
            for path in finder.paths(token, self.output, self.chain.wrapped_native)
            for route in finder.routes(self.chain.routers, path, pools)
        ]

    def _quote_reads(self, routes: Sequence[Route], amount: int) -> Call:
        reads = [finder.quote_read(route, amount) for route in routes]
        return multicall(multicall3=self.chain.multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION)

    def _approval(self, token: str) -> Call:
        arguments = (self.chain.permit2, UNLIMITED)
        return plain_call(function=APPROVE, to=token, arguments=arguments, sender=self.wallet, gas=APPROVAL_GAS_LIMIT)


def _facts(answer: Any) -> TokenFacts | None:  # noqa: ANN401 - a list of decoded reads, or the failure of all
    return None if isinstance(answer, CallFailedError) else token_facts(answer[:FACTS_READS])


def _pools(at: Sequence[PoolKey], answer: Any) -> dict[PoolKey, str]:  # noqa: ANN401 - as above
    return {} if isinstance(answer, CallFailedError) else finder.existing_pools(at, answer[FACTS_READS:])


def _replaces_allowance(token: TokenInput, facts: Facts) -> bool:
    return 0 < facts.tokens[token.asset].allowance < token.amount


def _probe_amount(token: str, facts: Facts) -> int:
    whole: int = 10 ** facts.tokens[token].decimals
    return min(whole, UNLIMITED)
