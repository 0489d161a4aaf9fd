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
from sweeps.rails.evm.build.issues import UserCall, allowance_issues, approved_amount, contract_allowance_issues
from sweeps.rails.evm.build.issuing import EvmIssued
from sweeps.rails.evm.build.stages import EvmPlanned

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

    def typed_data(self, issued: EvmIssued) -> TypedData:
        """Return what the user signs."""
        planned = issued.planned
        return self.taken.typed_data(
            PermitGrant(
                chain_id=planned.market.chain.chain_id,
                token=self.token,
                owner=planned.request.wallet,
                spender=planned.market.chain.permit2,
                value=self.value,
                deadline=issued.permission.deadline,
            )
        )

    def argument(self, issued: EvmIssued) -> TokenPermit:
        """Return the permit as the contract takes it."""
        is_dai = self.taken.kind is PermitKind.DAI
        return TokenPermit(self.leg, is_dai, self.taken.nonce if is_dai else self.value, issued.permission.deadline)


@dataclass(frozen=True)
class ExecutionOption:
    """One option, as far as a planned sweep shows it."""

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


def options(planned: EvmPlanned) -> list[ExecutionOption]:
    """Return the options for a planned sweep, those with the fewest prompts first."""
    return sorted(_options(planned), key=lambda option: (option.prompts, option.transactions))


def _options(planned: EvmPlanned) -> Iterator[ExecutionOption]:
    if planned.request.wallet_atomic is not WalletAtomic.UNSUPPORTED:
        approvals = [call for issue in contract_allowance_issues(planned) for call in issue.approvals]
        yield ExecutionOption(ExecutionKind.CALLS, approvals, ())
    if planned.wallet.answers_eip1271 is False:
        return
    issues = list(allowance_issues(planned))
    permits = list(_permits(planned, {issue.token for issue in issues}))
    # Most tokens check a permit by the owner's key, which a contract does not have.
    has_key = planned.wallet.kind is not AccountCode.CONTRACT
    if permits and len(permits) == len(issues) and has_key:
        yield ExecutionOption(ExecutionKind.PERMITS, (), permits)
    yield ExecutionOption(ExecutionKind.PERMIT2, [call for issue in issues for call in issue.approvals], ())


def _permits(planned: EvmPlanned, missing: Collection[str]) -> Iterator[NeededPermit]:
    """Yield the permits of these tokens, as far as they take permits of the value that is to be approved."""
    for position, token in enumerate(planned.tokens):
        value = approved_amount(planned, token)
        if token.asset in missing and token.permits is not None and token.permits.can_give(value):
            yield NeededPermit(position, token.asset, token.permits, value)


def execution_gas(option: ExecutionOption, planned: EvmPlanned) -> int:
    """Return the gas of everything that the user sends."""
    sweep = planned.gas.limit_as_caller if option.is_batch else planned.gas.limit(token_permits=len(option.permits))
    return sweep + APPROVAL_GAS * len(option.approvals)


def execution_data_fee(option: ExecutionOption, planned: EvmPlanned) -> int | None:
    """Return what a rollup charges for the data of everything that the user sends, in wei; None if not known."""
    approval_bytes = BATCHED_CALL_BYTES if option.is_batch else APPROVAL_BYTES
    return planned.data_fee(
        more_bytes=approval_bytes * len(option.approvals) + TOKEN_PERMIT_BYTES * len(option.permits)
    )


@dataclass(frozen=True)
class SweepCall:
    """The call of the contract."""

    to: str
    calldata: bytes

    value = 0


@dataclass(frozen=True)
class UnsignedSweepTransaction:
    """The transaction that sweeps, with placeholders for the signatures."""

    planned: EvmPlanned
    call: SweepCall
    gas: int
    data_fee: int | None


@dataclass(frozen=True)
class PricedExecution:
    """One option with what it costs and, once the sweep is issued, with either a batch of calls or a transaction."""

    option: ExecutionOption
    gas: int
    data_fee: int | None
    calls: Mapping[str, Any] | None = None  # the parameter of wallet_sendCalls
    typed_data: Sequence[TypedData] = ()
    transaction: UnsignedSweepTransaction | None = None
    signature_parts: Sequence[SignaturePart] = ()


def quoted_executions(planned: EvmPlanned) -> list[PricedExecution]:
    """Return the options for a planned sweep, those with the fewest prompts first."""
    return [
        PricedExecution(option, execution_gas(option, planned), execution_data_fee(option, planned))
        for option in options(planned)
    ]


def executions(issued: EvmIssued) -> list[PricedExecution]:
    """Return the options for a issued sweep, those with the fewest prompts first."""
    return [_issued(execution, issued) for execution in quoted_executions(issued.planned)]


def _issued(execution: PricedExecution, issued: EvmIssued) -> PricedExecution:
    option, planned = execution.option, issued.planned
    if option.is_batch:
        return replace(execution, calls=_batch(issued, option))
    if option.kind is ExecutionKind.PERMITS:
        permits = [permit.argument(issued) for permit in option.permits]
        calldata = issued.entry_points.encode_with_permits(issued.call.arguments, permits)
    else:
        calldata = issued.call.calldata
    transaction = UnsignedSweepTransaction(
        planned,
        SweepCall(planned.contract, calldata),
        planned.gas.limit(token_permits=len(option.permits)),
        planned.data_fee(more_bytes=TOKEN_PERMIT_BYTES * len(option.permits)),
    )
    return replace(
        execution,
        typed_data=[*(permit.typed_data(issued) for permit in option.permits), issued.permit],
        transaction=transaction,
        signature_parts=list(signature_parts(calldata, len(option.permits))),
    )


def _batch(issued: EvmIssued, option: ExecutionOption) -> dict[str, Any]:
    """Return the parameter of ``wallet_sendCalls``, whose numbers are hexadecimal."""
    calldata = issued.entry_points.encode_as_caller(issued.call.arguments)
    sweep = UserCall(issued.planned.contract, f"0x{calldata.hex()}")
    return {
        "version": SEND_CALLS_VERSION,
        "chainId": hex(issued.planned.market.chain.chain_id),
        "from": issued.planned.request.wallet,
        "atomicRequired": True,
        "calls": [{"to": call.to, "data": call.data, "value": hex(call.value)} for call in (*option.approvals, sweep)],
    }
