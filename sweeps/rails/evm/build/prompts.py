"""What a user signs and sends in each of the ways to execute a sweep, which ``sweepapi/evm/worth/ways.py`` finds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import with_data
from sweepapi.evm.contracts.batch import SignaturePart, TokenPermit, signature_parts
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.tokens.token_permits import PermitGrant, PermitKind, TokenPermits
from sweepapi.evm.trial.attempts import Approval
from sweepapi.evm.worth.valuing import Economics
from sweepapi.evm.worth.ways import ExecutionWay, WayKind, approval_limit
from sweeps.rails.evm.build.issuing import EvmIssued
from sweeps.rails.evm.build.stages import EvmPlanned

SEND_CALLS_VERSION = "2.0.0"


@dataclass(frozen=True)
class NeededPermit:
    """The permit of one token, which gives Permit2 the allowance that it lacks."""

    leg: int  # the position of the token
    token: str
    taken: TokenPermits
    value: int

    def typed_data(self, chain: Chain, *, owner: str, deadline: int) -> TypedData:
        """Return what the owner signs."""
        grant = PermitGrant(
            chain_id=chain.chain_id,
            token=self.token,
            owner=owner,
            spender=chain.permit2,
            value=self.value,
            deadline=deadline,
        )
        return self.taken.typed_data(grant)

    def argument(self, deadline: int) -> TokenPermit:
        """Return the permit as the contract takes it."""
        is_dai = self.taken.kind is PermitKind.DAI
        return TokenPermit(self.leg, is_dai, self.taken.nonce if is_dai else self.value, deadline)


@dataclass(frozen=True)
class UserCall:
    """A call that the user makes."""

    to: str
    calldata: bytes
    gas: int  # the limit

    value = 0


@dataclass(frozen=True)
class UnsignedSweepTransaction:
    """The transaction that sweeps, with placeholders for the signatures that it needs."""

    planned: EvmPlanned
    call: UserCall
    data_fee: int | None

    @property
    def gas(self) -> int:
        """The gas limit."""
        return self.call.gas


@dataclass(frozen=True)
class QuotedExecution:
    """One way to execute a planned sweep, and what it costs and brings."""

    planned: EvmPlanned
    way: ExecutionWay

    @cached_property
    def economics(self) -> Economics:
        """What the sweep brings in this way."""
        return self.planned.economics_of(self.way)

    @property
    def gas_limit(self) -> int:
        """The limits of everything that the user sends together."""
        return sum(sent.gas_limit for sent in self.planned.sent_of(self.way))

    @property
    def approvals(self) -> list[UserCall]:
        """The approvals in their order, each with its gas limit; within a batch their data is that of the batch."""
        calls = [call for approval in self.way.approvals for call in approval_calls(self.planned, approval)]
        if not self.way.is_batch:
            return calls
        return [replace(call, gas=call.gas - self.planned.data_gas_of(call.to, call.calldata)) for call in calls]


@dataclass(frozen=True)
class IssuedExecution(QuotedExecution):
    """One way to execute an issued sweep, with either a batch of calls or a transaction."""

    issued: EvmIssued

    @property
    def calls(self) -> dict[str, Any] | None:
        """The parameter of ``wallet_sendCalls``, whose numbers are hexadecimal; None unless it is a batch."""
        if not self.way.is_batch:
            return None
        request = self.planned.request
        return {
            "version": SEND_CALLS_VERSION,
            "chainId": hex(self.planned.market.chain.chain_id),
            "from": request.wallet,
            "atomicRequired": True,
            "calls": [
                _batched(call, with_limit=request.wallet_says.takes_gas_limits)
                for call in (*self.approvals, self._as_caller)
            ],
        }

    @property
    def transaction(self) -> UnsignedSweepTransaction | None:
        """The transaction that sweeps; None if it is a batch."""
        match self.way.kind:
            case WayKind.CALLS:
                return None
            case WayKind.TRANSACTIONS:
                call = self._as_caller
            case WayKind.PERMITS:
                permits = [permit.argument(self._deadline) for permit in self._permits]
                calldata = self.issued.entry_points.encode_with_permits(self.issued.call.arguments, permits)
                call = UserCall(self.planned.contract, calldata, self.planned.gas.limit(token_permits=len(permits)))
            case WayKind.PERMIT2:
                call = UserCall(self.planned.contract, self.issued.call.calldata, self.planned.gas.limit())
        cost = self.planned.sweep_cost(self.way.kind)
        used = self.way.sent[-1].gas
        sent = replace(call, gas=with_data(call.gas, cost))
        return UnsignedSweepTransaction(self.planned, sent, None if cost is None else cost.fee(used))

    @property
    def typed_data(self) -> list[TypedData]:
        """What the user signs, in order."""
        if not self.way.signatures:
            return []
        chain, owner = self.planned.market.chain, self.planned.request.wallet
        permits = (permit.typed_data(chain, owner=owner, deadline=self._deadline) for permit in self._permits)
        return [*permits, self.issued.permit]

    @property
    def signature_parts(self) -> list[SignaturePart]:
        """Where the signatures go in the transaction."""
        if self.transaction is None or not self.way.signatures:
            return []
        return list(signature_parts(self.transaction.call.calldata, len(self._permits)))

    @property
    def _deadline(self) -> int:
        return self.issued.permission.deadline

    @property
    def _permits(self) -> list[NeededPermit]:
        return list(needed_permits(self.planned, self.way))

    @property
    def _as_caller(self) -> UserCall:
        calldata = self.issued.entry_points.encode_as_caller(self.issued.call.arguments)
        return UserCall(self.planned.contract, calldata, self.planned.gas.limit_as_caller)


def quoted_executions(planned: EvmPlanned) -> list[QuotedExecution]:
    """Return the ways to execute a planned sweep, in the order in which partners should offer them."""
    return [QuotedExecution(planned, way) for way in planned.ways]


def executions(issued: EvmIssued) -> list[IssuedExecution]:
    """Return the ways to execute an issued sweep, in the same order."""
    return [IssuedExecution(issued.planned, way, issued) for way in issued.planned.ways]


def signable_permits(planned: EvmPlanned) -> list[NeededPermit]:
    """Return the tokens' permits that the user signs in one of the ways; none if no way has permits."""
    return [permit for way in planned.ways for permit in needed_permits(planned, way)]


def approval_calls(planned: EvmPlanned, approval: Approval) -> list[UserCall]:
    """Return the transactions that give an allowance, in their order."""
    limit = approval_limit(planned.tried.approvals_used, approval)
    return [UserCall(call.to, call.data, limit + planned.data_gas_of(call.to, call.data)) for call in approval.calls]


def needed_permits(planned: EvmPlanned, way: ExecutionWay) -> Iterator[NeededPermit]:
    """Yield the permits of tokens that the user signs in this way."""
    for position in way.permit_positions:
        token = planned.tokens[position]
        if token.permits is not None:
            yield NeededPermit(position, token.asset, token.permits, planned.ways_finder.approved_amount(token))


def _batched(call: UserCall, *, with_limit: bool) -> dict[str, Any]:
    sent = {"to": call.to, "data": f"0x{call.calldata.hex()}", "value": hex(call.value)}
    if not with_limit:
        return sent
    return {**sent, "capabilities": {"gasLimitOverride": {"value": hex(call.gas)}}}
