"""Reads how a user can approve a sweep: by transactions, by signatures of tokens' own permits, and by Permit2's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sweepapi.evm.chain.multicall import multicall, plain_call
from sweepapi.evm.tokens.erc20 import APPROVE, TokenFacts
from sweepapi.evm.tokens.token_permits import TokenPermits, permit_reads, token_permits
from sweepapi.evm.wallet import accounts
from sweepapi.evm.wallet.plain_signatures import plain_signature_probes, takes_plain_signature
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import CallFailedError

# Far above what a token needs; they bound what a hostile one can make the node compute and send.
APPROVAL_GAS_LIMIT = 1_000_000
PERMIT_READS_GAS_LIMIT = 1_000_000


@dataclass(frozen=True)
class ApprovalFacts:
    """The results of the reads."""

    needs_reset: frozenset[str]  # tokens that refuse to replace an allowance that is not zero
    permits: Mapping[str, TokenPermits]  # by token, where the allowance of Permit2 is too small
    answers_eip1271: bool | None  # None if the user's account has no code, or if that is unknown
    takes_batches: bool  # whether the account's code makes batches as ERC-7821 says
    takes_plain_signature: bool | None  # of the account's key; None unless it delegates, or if that is unknown


NOT_READ = ApprovalFacts(frozenset(), {}, None, takes_batches=False, takes_plain_signature=None)


@dataclass(frozen=True)
class ApprovalReads:
    """The calls that read the facts about one user, for the second round trip of a build."""

    chain_id: int
    multicall3: str
    permit2: str
    contract: str
    wallet: str
    code: bytes  # of the wallet
    amounts: Mapping[str, int]  # by swept token
    tokens: Mapping[str, TokenFacts]

    @property
    def calls(self) -> list[Call]:
        """The calls whose answers ``facts`` takes."""
        probed = {"account": self.wallet, "multicall3": self.multicall3}
        probes = [accounts.signature_probe(**probed), accounts.batch_probe(self.wallet)] if self.code else []
        if self._delegate is not None:
            probes += plain_signature_probes(**probed)
        return [
            *(self._try(token, spender) for token, spender in self._replacing.items()),
            *(self._permit_reads(token) for token in self._unapproved),
            *probes,
        ]

    def facts(self, answers: Sequence[Any]) -> ApprovalFacts:
        """Return the facts from the answers, in their order."""
        rest = iter(answers)
        refused = [token for token in self._replacing if isinstance(next(rest), CallFailedError)]
        permits = {token: self._permits(token, next(rest)) for token in self._unapproved}
        checks, takes_batches = accounts.checks_of(next(rest, None)), next(rest, None) == (True,)
        delegate, plain = self._delegate, None
        if delegate is not None:
            plain = takes_plain_signature(list(rest), delegate=delegate, nests_typed_data=checks.nests_typed_data)
        return ApprovalFacts(
            needs_reset=frozenset(refused),
            permits={token: how for token, how in permits.items() if how is not None},
            answers_eip1271=checks.answers_eip1271,
            takes_batches=takes_batches,
            takes_plain_signature=plain,
        )

    @property
    def _delegate(self) -> str | None:
        return accounts.delegate_of(self.code)

    @cached_property
    def _replacing(self) -> Mapping[str, str]:
        """A spender by token whose allowance is neither zero nor enough; tokens treat all spenders alike."""
        return dict(self._find_replacing())

    def _find_replacing(self) -> Iterator[tuple[str, str]]:
        for token, amount in self.amounts.items():
            known = self.tokens[token]
            if 0 < known.contract_allowance < amount:
                yield token, self.contract
            if 0 < known.allowance < amount:
                yield token, self.permit2

    @cached_property
    def _unapproved(self) -> list[str]:
        """The tokens that Permit2 may not transfer yet."""
        return [token for token, amount in self.amounts.items() if self.tokens[token].allowance < amount]

    def _try(self, token: str, spender: str) -> Call:
        arguments = (spender, self.amounts[token])
        return plain_call(function=APPROVE, to=token, arguments=arguments, sender=self.wallet, gas=APPROVAL_GAS_LIMIT)

    def _permit_reads(self, token: str) -> Call:
        return multicall(
            multicall3=self.multicall3,
            reads=permit_reads(token=token, owner=self.wallet),
            error_policy=ErrorPolicy.EXECUTION,
            gas=PERMIT_READS_GAS_LIMIT,
        )

    def _permits(self, token: str, answer: Any) -> TokenPermits | None:  # noqa: ANN401 - decoded reads, or their failure
        if isinstance(answer, CallFailedError):
            return None
        return token_permits(answer, token=token, chain_id=self.chain_id)
