"""The ways in which a user can execute a sweep, those with the fewest prompts first.

- ``calls``: the wallet makes approvals and sweep in one batch (EIP-5792), and the contract takes the tokens itself.
- ``permits``: the user signs the tokens' own permits and Permit2's, and sends one transaction.
- ``permit2``: the user sends the approvals of Permit2 that are missing, signs for Permit2, and sends the sweep.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sweepapi.evm.contracts.batch import SignaturePart, TokenPermit, signature_parts
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.tokens.token_permits import PermitGrant, PermitKind, TokenPermits
from sweepapi.evm.wallet.accounts import AccountCode
from sweeps.protocol.request import WalletAtomic
from sweeps.rails.evm.build.draft import EvmDraft
from sweeps.rails.evm.build.issues import UserCall, allowance_issues, approved_amount, contract_allowance_issues
from sweeps.rails.evm.build.sealing import EvmSealed

SEND_CALLS_VERSION = "2.0.0"
APPROVAL_GAS = 60_000
# What a rollup's fee for data grows by, in bytes of the sweep's transaction. Its formula has a constant part, so a
# separate transaction counts for more bytes than it has.
APPROVAL_BYTES = 160
BATCHED_CALL_BYTES = 256
TOKEN_PERMIT_BYTES = 224


class ExecutionKind(StrEnum):
    """How a sweep can be executed."""

    CALLS = "calls"
    PERMITS = "permits"
    PERMIT2 = "permit2"


@dataclass(frozen=True)
class NeededPermit:
    """The permit of one token, which gives Permit2 the allowance that it lacks."""

    leg: int  # the position of the token
    token: str
    taken: TokenPermits
    value: int

    def typed_data(self, sealed: EvmSealed) -> TypedData:
        """Return what the user signs."""
        draft = sealed.draft
        return self.taken.typed_data(
            PermitGrant(
                chain_id=draft.market.chain.chain_id,
                token=self.token,
                owner=draft.request.wallet,
                spender=draft.market.chain.permit2,
                value=self.value,
                deadline=sealed.permission.deadline,
            )
        )

    def argument(self, sealed: EvmSealed) -> TokenPermit:
        """Return the permit as the contract takes it."""
        is_dai = self.taken.kind is PermitKind.DAI
        return TokenPermit(self.leg, is_dai, self.taken.nonce if is_dai else self.value, sealed.permission.deadline)


@dataclass(frozen=True)
class ExecutionOption:
    """One option, as far as a draft shows it."""

    kind: ExecutionKind
    approvals: Sequence[UserCall]  # within the batch if there is one, otherwise sent before the sweep
    permits: Sequence[NeededPermit]  # what the user signs before the Permit2 signature

    @property
    def is_batch(self) -> bool:
        """Whether the wallet makes all calls at once."""
        return self.kind is ExecutionKind.CALLS

    @property
    def transactions(self) -> int:
        """How many transactions the user sends."""
        return 1 if self.is_batch else len(self.approvals) + 1

    @property
    def prompts(self) -> int:
        """How often the wallet asks its user: for each signature and each transaction, and once for a batch."""
        return 1 if self.is_batch else self.transactions + len(self.permits) + 1


def options(draft: EvmDraft) -> list[ExecutionOption]:
    """Return the options for a draft, those with the fewest prompts first."""
    return sorted(_options(draft), key=lambda option: (option.prompts, option.transactions))


def _options(draft: EvmDraft) -> Iterator[ExecutionOption]:
    if draft.request.wallet_atomic is not WalletAtomic.UNSUPPORTED:
        approvals = [call for issue in contract_allowance_issues(draft) for call in issue.approvals]
        yield ExecutionOption(ExecutionKind.CALLS, approvals, ())
    if draft.wallet.answers_eip1271 is False:
        return
    issues = list(allowance_issues(draft))
    permits = list(_permits(draft, {issue.token for issue in issues}))
    # Most tokens check a permit by the owner's key, which a contract does not have.
    has_key = draft.wallet.kind is not AccountCode.CONTRACT
    if permits and len(permits) == len(issues) and has_key:
        yield ExecutionOption(ExecutionKind.PERMITS, (), permits)
    yield ExecutionOption(ExecutionKind.PERMIT2, [call for issue in issues for call in issue.approvals], ())


def _permits(draft: EvmDraft, missing: Collection[str]) -> Iterator[NeededPermit]:
    """Yield the permits of these tokens, as far as they take permits of the value that is to be approved."""
    for position, token in enumerate(draft.tokens):
        value = approved_amount(draft, token)
        if token.asset in missing and token.permits is not None and token.permits.can_give(value):
            yield NeededPermit(position, token.asset, token.permits, value)


def execution_gas(option: ExecutionOption, draft: EvmDraft) -> int:
    """Return the gas of everything that the user sends."""
    sweep = draft.gas.limit_as_caller if option.is_batch else draft.gas.limit(token_permits=len(option.permits))
    return sweep + APPROVAL_GAS * len(option.approvals)


def execution_data_fee(option: ExecutionOption, draft: EvmDraft) -> int | None:
    """Return what a rollup charges for the data of everything that the user sends, in wei; None if not known."""
    approval_bytes = BATCHED_CALL_BYTES if option.is_batch else APPROVAL_BYTES
    return draft.data_fee(more_bytes=approval_bytes * len(option.approvals) + TOKEN_PERMIT_BYTES * len(option.permits))


@dataclass(frozen=True)
class SweepCall:
    """The call of the contract."""

    to: str
    calldata: bytes

    value = 0


@dataclass(frozen=True)
class UnsignedSweepTransaction:
    """The transaction that sweeps, with placeholders for the signatures."""

    draft: EvmDraft
    call: SweepCall
    gas: int
    data_fee: int | None


@dataclass(frozen=True)
class PricedExecution:
    """One option with what it costs and, once the draft is sealed, with either a batch of calls or a transaction."""

    option: ExecutionOption
    gas: int
    data_fee: int | None
    calls: Mapping[str, Any] | None = None  # the parameter of wallet_sendCalls
    typed_data: Sequence[TypedData] = ()
    transaction: UnsignedSweepTransaction | None = None
    signature_parts: Sequence[SignaturePart] = ()


def quoted_executions(draft: EvmDraft) -> list[PricedExecution]:
    """Return the options for a draft, those with the fewest prompts first."""
    return [
        PricedExecution(option, execution_gas(option, draft), execution_data_fee(option, draft))
        for option in options(draft)
    ]


def executions(sealed: EvmSealed) -> list[PricedExecution]:
    """Return the options for a sealed draft, those with the fewest prompts first."""
    return [_sealed(execution, sealed) for execution in quoted_executions(sealed.draft)]


def _sealed(execution: PricedExecution, sealed: EvmSealed) -> PricedExecution:
    option, draft = execution.option, sealed.draft
    if option.is_batch:
        return replace(execution, calls=_batch(sealed, option))
    if option.kind is ExecutionKind.PERMITS:
        permits = [permit.argument(sealed) for permit in option.permits]
        calldata = sealed.entry_points.encode_with_permits(sealed.call.arguments, permits)
    else:
        calldata = sealed.call.calldata
    transaction = UnsignedSweepTransaction(
        draft,
        SweepCall(draft.contract, calldata),
        draft.gas.limit(token_permits=len(option.permits)),
        draft.data_fee(more_bytes=TOKEN_PERMIT_BYTES * len(option.permits)),
    )
    return replace(
        execution,
        typed_data=[*(permit.typed_data(sealed) for permit in option.permits), sealed.permit],
        transaction=transaction,
        signature_parts=list(signature_parts(calldata, len(option.permits))),
    )


def _batch(sealed: EvmSealed, option: ExecutionOption) -> dict[str, Any]:
    """Return the parameter of ``wallet_sendCalls``, whose numbers are hexadecimal."""
    calldata = sealed.entry_points.encode_as_caller(sealed.call.arguments)
    sweep = UserCall(sealed.draft.contract, f"0x{calldata.hex()}")
    return {
        "version": SEND_CALLS_VERSION,
        "chainId": hex(sealed.draft.market.chain.chain_id),
        "from": sealed.draft.request.wallet,
        "atomicRequired": True,
        "calls": [{"to": call.to, "data": call.data, "value": hex(call.value)} for call in (*option.approvals, sweep)],
    }
