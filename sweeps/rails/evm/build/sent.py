"""The transactions that a user sends in each way to execute a planned sweep, for what their data costs.

Nothing is signed yet, so they have noise in place of signatures: fee models compress data, and zeros to nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sweepapi.evm.chain.fee_models.costs import DataReads, UnsignedTransaction, noise, unsigned_signature
from sweepapi.evm.contracts.batch import Permission
from sweepapi.evm.contracts.batch_account import execute_calldata
from sweepapi.evm.contracts.permit2 import BITS_PER_WORD
from sweepapi.evm.trial.attempts import TriedCall
from sweepapi.evm.wallet.accounts import AccountCode
from sweepapi.evm.worth.data_costs import DataCosts
from sweepapi.evm.worth.ways import ExecutionWay, WayKind
from sweeps.rails.evm.build.issuing import FIRST_PERMIT_WORD, new_deadline
from sweeps.rails.evm.build.prompts import needed_permits
from sweeps.rails.evm.build.stages import EvmPlanned, Trial

# What EIP-7702 adds to the transaction that gives an account its code: an address, a nonce and a signature. They are
# charged for like calldata.
AUTHORIZATION_BYTES = 92


def unsigned_permission(planned: EvmPlanned) -> Permission:
    """Return a permission like those that the user signs, with noise for the signature."""
    nonce = FIRST_PERMIT_WORD * BITS_PER_WORD
    return Permission(nonce, new_deadline(planned.head), unsigned_signature("permission"))


@dataclass(frozen=True)
class SentTransactions:
    """The transactions of every way that is offered, and of a sweep under the user's Permit2 signature in any case."""

    planned: EvmPlanned
    trial: Trial

    @cached_property
    def reads(self) -> DataReads:
        """How to read what the data of each different one costs."""
        return self.planned.market.chain.data_reads(self._different)

    def costs(self, answers: Sequence[Any]) -> DataCosts:
        """Return what the data of each transaction costs."""
        known = dict(zip(self._different, self.reads.costs(answers), strict=True))
        return DataCosts(
            sweeps={kind: known[sweep] for kind, sweep in self._sweeps.items()},
            approvals={(one.to, one.data): known[one] for one in self._approvals},
        )

    @cached_property
    def _different(self) -> list[UnsignedTransaction]:
        return list(dict.fromkeys([*self._sweeps.values(), *self._approvals]))

    @cached_property
    def _approvals(self) -> list[UnsignedTransaction]:
        ways = [way for way in self.planned.ways if not way.is_batch]
        calls = [call for way in ways for approval in way.approvals for call in approval.calls]
        return [UnsignedTransaction(call.to, call.data) for call in calls]

    @cached_property
    def _sweeps(self) -> Mapping[WayKind, UnsignedTransaction]:
        arguments, entry_points = self.trial.arguments(self.planned), self.trial.entry_points
        signed = UnsignedTransaction(self.planned.contract, entry_points.sweep.encode(*arguments))
        as_caller = UnsignedTransaction(self.planned.contract, entry_points.encode_as_caller(arguments))
        sweeps = {WayKind.PERMIT2: signed}
        for way in self.planned.ways:
            match way.kind:
                case WayKind.CALLS:
                    sweeps[way.kind] = self._batch(way, as_caller)
                case WayKind.PERMITS:
                    sweeps[way.kind] = replace(signed, data=self._with_permits(way, arguments))
                case WayKind.TRANSACTIONS:
                    sweeps[way.kind] = as_caller
        return sweeps

    def _batch(self, way: ExecutionWay, sweep: UnsignedTransaction) -> UnsignedTransaction:
        approvals: list[TriedCall] = [call for approval in way.approvals for call in approval.calls]
        calls = [*((call.to, call.data) for call in approvals), (sweep.to, sweep.data)]
        is_upgraded = self.planned.wallet.kind is AccountCode.NONE
        authorization = noise(AUTHORIZATION_BYTES, seed="authorization of code") if is_upgraded else b""
        return UnsignedTransaction(self.planned.request.wallet, execute_calldata(calls) + authorization)

    def _with_permits(self, way: ExecutionWay, arguments: Sequence[Any]) -> bytes:
        deadline = new_deadline(self.planned.head)
        permits = [permit.argument(deadline) for permit in needed_permits(self.planned, way)]
        signed = [replace(permit, signature=unsigned_signature(f"permit {permit.leg}")) for permit in permits]
        return self.trial.entry_points.encode_with_permits(arguments, signed)
