"""What both methods of trying a sweep before it is signed have in common: what is tried, and what was found."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sweepapi.evm.encoding.responses import GasPrice, Log
from sweepapi.evm.tokens.erc20 import APPROVE
from sweepapi.evm.trial.sweep_gas import SweepGas

# What a node lets one request burn: geth allows 50,000,000 by default, others half of that.
MAX_GAS = 25_000_000
APPROVAL_GAS = 150_000  # more than twice what tokens behind a proxy need
# Returns EIP-1271's magic value to every call: any signature is valid for an account with this code.
ACCEPTS_SIGNATURES = "0x631626ba7e60e01b60005260206000f3"
ACCEPTING_GAS = 2_813  # to ask it, which a contract does only if no key of the account signed


@dataclass(frozen=True)
class TriedCall:
    """One call, with its gas limit."""

    to: str
    data: bytes
    gas: int


@dataclass(frozen=True)
class Approval:
    """The allowances that the user gives a spender one after the other; the sweep uses the last one."""

    token: str
    spender: str
    current: int
    amounts: Sequence[int]  # empty if the current one suffices
    takes_all: bool  # whether the sweep takes the user's whole balance

    @property
    def final(self) -> int:
        """The allowance that the sweep uses."""
        return self.amounts[-1] if self.amounts else self.current

    @cached_property
    def calls(self) -> list["TriedCall"]:
        """The approvals in their order."""
        return [TriedCall(self.token, APPROVE.encode(self.spender, amount), APPROVAL_GAS) for amount in self.amounts]


@dataclass(frozen=True)
class AccountBatch:
    """The account's one transaction to itself that makes the approvals of the contract and sweeps."""

    calldata: bytes
    code: str | None  # for the account, as hex; None if its own code makes batches


@dataclass(frozen=True)
class TrialPayout:
    """What a sweep pays to whom."""

    token: str  # or the native coin
    wrapped_native: str  # in which a fee is paid if its recipient refuses the native coin
    recipients: Sequence[str]  # the user first, each once


@dataclass(frozen=True)
class Attempt:
    """Approvals and a sweep as its user's own calls, the sweep with gas limits in rising order.

    An attempt that reverts leaves nothing behind, and one that went through can't be repeated.
    """

    user: str
    contract: str
    tokens: Sequence[str]  # of all legs, also of those that the offer drops
    approvals: Sequence[Approval]  # one for each leg that is swept
    calldata: bytes
    limits: Sequence[int]
    codes: Mapping[str, str]  # of accounts that need another code, as hex
    codes_gas: int  # that the sweep uses because of these codes
    gas_price: GasPrice | None
    native_balance: int  # of the user, in wei
    gross_output: Callable[[Log], int | None]  # of the event of an executed sweep; None for another event
    payout: TrialPayout
    gas: SweepGas
    # At most what the chain takes for the data of a call at a price, out of its gas; None where it takes nothing.
    data_gas: int | None
    other_approvals: Sequence[Approval] = ()  # of Permit2, which the attempt does not use: tried for their gas
    batch: AccountBatch | None = None  # the same in one transaction, tried for its gas
    kept: Sequence[str] = ()  # other tokens of the user, whose balances are believed

    @property
    def approving_calls(self) -> list[TriedCall]:
        """The approvals in their order, the other ones last."""
        return [call for approval in (*self.approvals, *self.other_approvals) for call in approval.calls]

    @property
    def approving_gas(self) -> int:
        """The gas limits of the approvals together."""
        return sum(call.gas for call in self.approving_calls)

    def payable(self, price: GasPrice | None, *, overhead: int) -> GasPrice | None:
        """Return the price if the user can pay it for the sweep and this much more gas: a token can see it."""
        return price if self.request_gas(price) - overhead >= self.gas.limit_as_caller else None

    def request_gas(self, price: GasPrice | None) -> int:
        """Return the most gas that one request can use at this price."""
        return min(self.native_balance // price.wei, MAX_GAS) if price is not None and price.wei else MAX_GAS


@dataclass(frozen=True)
class TrialOutcome:
    """What became of an attempt."""

    method: str  # of the JSON-RPC interface
    least_gas: int | None  # the first limit that sufficed; None if the sweep reverted
    gas_used: int  # as the receipt would show it
    gross_output: int | None  # before the fee; None if the sweep reverted, or without its event
    returned: bytes  # the reason if the sweep reverted
    approvals_used: Mapping[tuple[str, str], int] = field(default_factory=dict)  # gas by token and spender
    batch_used: int | None = None  # the gas of the batch
    taken: Collection[str] = ()  # tokens of the user that it moved and that it was not to sweep


def grouped(limits: Sequence[int], *, room: int) -> list[list[int]]:
    """Return the limits, none above the room, in groups, so that one request can use up all of a group."""
    groups: list[list[int]] = [[]]
    for limit in dict.fromkeys(min(limit, room) for limit in limits):
        if groups[-1] and sum(groups[-1]) + limit > room:
            groups.append([])
        groups[-1].append(limit)
    return groups
