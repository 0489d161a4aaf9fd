"""The ways in which a user can execute a sweep, and the gas of each, approvals included.

What was tried is measured; the figures below stand in for it before the trial and where nothing can be tried. They were
measured on the local chain; ``tests/sweeps/story/test_ways.py`` compares the ways with what is executed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sweepapi.evm.tokens.erc20 import UNLIMITED
from sweepapi.evm.tokens.token_permits import TokenPermits
from sweepapi.evm.trial.attempts import Approval
from sweepapi.evm.trial.call_gas import CLEARED
from sweepapi.evm.trial.legs import LegSwap
from sweepapi.evm.trial.sweep_gas import PERMIT2_PER_TOKEN, TRANSACTION_CAP, SweepGas

# A transaction that approves a token behind a proxy: a new allowance, another one, and none.
NEW_APPROVAL, OTHER_APPROVAL, RESET = 52_000, 35_000, 30_000
# What an approval that the sweep uses up adds to a batch: its slots are warm for the transfer, and it is refunded more.
BATCHED_APPROVAL, BATCHED_KEPT_APPROVAL = 9_000, 25_000
UNTRIED_APPROVAL_LIMIT = 100_000
APPROVAL_LIMIT_PERCENT = 130  # a fifth of what was used may have been refunded
BATCH = 6_000  # an account's code around its calls
BATCH_LIMIT = 60_000  # that code, and what the frames of its calls keep of a sweep's gas (EIP-150)
# A token's first permit that the sweep uses up; more where it stays, less where its nonce was counted before.
USED_PERMIT, KEPT_PERMIT, COUNTED_NONCE = 34_500, 52_800, 17_100
# EIP-7702: the price of an authorization, of which half is refunded to an account that exists.
AUTHORIZATION, USED_AUTHORIZATION = 25_000, 12_500
# What a rollup's fee for data is estimated to grow by, in bytes of calldata as a token adds them, mostly zeros. An
# approval of its own has little calldata, but a signature and an envelope, which do not compress.
APPROVAL_BYTES = 350
BATCHED_CALL_BYTES = 110  # the addresses are there already
TOKEN_PERMIT_BYTES = 224
UNSIGNED_BYTES = 250  # less of a sweep without Permit2's nonce, deadline and signature
KEPT_WRITE = 2_900  # what it costs to lower an allowance; a token that never lowers one saves that


class WayKind(StrEnum):
    """What the user signs and sends."""

    CALLS = "calls"  # approvals and sweep in one batch, for which the contract takes the tokens itself
    PERMITS = "permits"  # the tokens' own permits and Permit2's are signed, and one transaction is sent
    PERMIT2 = "permit2"  # the approvals that Permit2 lacks are sent, its permit is signed, and the sweep is sent
    TRANSACTIONS = "transactions"  # the approvals that the contract lacks are sent, and then the sweep


class ApprovableToken(Protocol):
    """A token that a sweep takes, and the allowances that the user gave."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def swap(self) -> LegSwap | None: ...

    @property
    def balance(self) -> int: ...

    @property
    def allowance(self) -> int: ...

    @property
    def contract_allowance(self) -> int: ...

    @property
    def needs_reset(self) -> bool: ...

    @property
    def permits(self) -> TokenPermits | None: ...


@dataclass(frozen=True)
class WalletAbilities:
    """What the user's wallet can do."""

    may_batch: bool  # whether it may take a batch of calls
    does_batch: bool  # whether it said so
    is_upgraded: bool  # whether an account without code is given some with the batch (EIP-7702)
    signs: bool | None  # whether Permit2 accepts its signatures; None if that is not known
    is_contract: bool  # whether the account has no key of its own, which tokens' own permits need
    batches_as_tried: bool  # whether its own code made the batch of the trial
    code_gas: int  # what its code adds to a transaction or a batch that was not measured with it


@dataclass(frozen=True)
class SentGas:
    """The gas of one transaction: what its receipt will show, and its limit."""

    gas: int
    gas_limit: int


@dataclass(frozen=True)
class ExecutionWay:
    """One way to execute a sweep."""

    kind: WayKind
    approvals: Sequence[Approval]  # that are missing
    permit_positions: Sequence[int]  # of the tokens whose own permits are signed
    counts: bool  # whether the user certainly has it
    sent: Sequence[SentGas]  # in order, the sweep last
    approval_gas: Mapping[str, int]  # by token: of its approvals or permit
    is_estimated: bool  # whether not all of it was tried

    @property
    def gas(self) -> int:
        """The gas of everything that the user sends."""
        return sum(sent.gas for sent in self.sent)

    @property
    def gas_limit(self) -> int:
        """The limits of everything that the user sends together."""
        return sum(sent.gas_limit for sent in self.sent)

    @property
    def is_batch(self) -> bool:
        """Whether the wallet makes all calls at once."""
        return self.kind is WayKind.CALLS

    @property
    def more_bytes(self) -> int:
        """What a rollup's fee for data grows by, in bytes, beside the sweep under the user's Permit2 signature."""
        approvals = sum(len(approval.amounts) for approval in self.approvals)
        added = BATCHED_CALL_BYTES * (approvals + 1) if self.is_batch else APPROVAL_BYTES * approvals
        unsigned = 0 if self.signatures else UNSIGNED_BYTES
        return added + TOKEN_PERMIT_BYTES * len(self.permit_positions) - unsigned

    @property
    def signatures(self) -> int:
        """How many messages the user signs."""
        return len(self.permit_positions) + (self.kind in (WayKind.PERMITS, WayKind.PERMIT2))

    @property
    def transactions(self) -> int:
        """How many transactions the user sends."""
        return len(self.sent)

    @property
    def prompts(self) -> int:
        """How often the wallet asks its user: for each signature and each transaction, and once for a batch."""
        return self.transactions + self.signatures


@dataclass(frozen=True)
class ExecutionWays:
    """Finds the ways of one sweep."""

    tokens: Sequence[ApprovableToken]  # of the offer, the dropped ones without a swap
    permit2: str
    contract: str
    unlimited: bool  # whether approvals are given for any amount
    wallet: WalletAbilities
    sweep: SweepGas
    approvals_used: Mapping[tuple[str, str], int]  # as the trial measured them, by token and spender
    batch_used: int | None

    def approval(self, token: ApprovableToken, spender: str) -> Approval:
        """Return what the user has to approve; nothing if the allowance suffices."""
        current = token.allowance if spender == self.permit2 else token.contract_allowance
        amount = self.approved_amount(token)
        resets = [0] if token.needs_reset and current > 0 else []
        return Approval(
            token.asset,
            spender,
            current=current,
            amounts=[*resets, amount] if current < token.amount else [],
            takes_all=token.balance == token.amount,
        )

    def approved_amount(self, token: ApprovableToken) -> int:
        """Return the allowance to give."""
        return UNLIMITED if self.unlimited else token.amount

    def all(self) -> Iterator[ExecutionWay]:
        """Yield the ways."""
        for_contract = self._missing(self.contract)
        if self.wallet.may_batch:
            yield self._batch(for_contract)
        yield self._sent(WayKind.TRANSACTIONS, for_contract)
        if self.wallet.signs is False:
            return
        for_permit2 = self._missing(self.permit2)
        positions = list(self._permit_positions({approval.token for approval in for_permit2}))
        if positions and len(positions) == len(for_permit2) and not self.wallet.is_contract:
            yield self._with_permits(positions)
        yield self._sent(WayKind.PERMIT2, for_permit2)

    def _missing(self, spender: str) -> list[Approval]:
        approvals = [self.approval(token, spender) for token in self._swept]
        return [approval for approval in approvals if approval.amounts]

    @property
    def _swept(self) -> list[ApprovableToken]:
        return [token for token in self.tokens if token.swap is not None]

    def _permit_positions(self, missing: set[str]) -> Iterator[int]:
        for position, token in enumerate(self.tokens):
            takes = token.permits is not None and token.permits.can_give(self.approved_amount(token))
            if token.asset in missing and takes:
                yield position

    def _batch(self, approvals: Sequence[Approval]) -> ExecutionWay:
        each = {one.token: self._batched(one) for one in approvals}
        used = self.batch_used
        if used is None:
            used = self.sweep.used_as_caller + sum(each.values()) + BATCH
        authorization = (USED_AUTHORIZATION, AUTHORIZATION) if self.wallet.is_upgraded else (0, 0)
        overhead = self.wallet.code_gas
        limit = (
            self.sweep.limit_as_caller + sum(map(self._limit, approvals)) + BATCH_LIMIT + authorization[1] + overhead
        )
        return ExecutionWay(
            WayKind.CALLS,
            approvals,
            (),
            counts=self.wallet.does_batch,
            sent=[SentGas(used + authorization[0] + overhead, min(limit, TRANSACTION_CAP))],
            approval_gas=each,
            is_estimated=self.batch_used is None or not self.wallet.batches_as_tried,
        )

    def _batched(self, approval: Approval) -> int:
        is_used_up = approval.current == 0 and not self.unlimited
        return BATCHED_APPROVAL if is_used_up else BATCHED_KEPT_APPROVAL

    def _sent(self, kind: WayKind, approvals: Sequence[Approval]) -> ExecutionWay:
        each = {one.token: self._used(one) for one in approvals}
        is_signed = kind is WayKind.PERMIT2
        used = self.sweep.used + self._cleared_otherwise if is_signed else self.sweep.used_as_caller
        limit = self.sweep.limit() if is_signed else self.sweep.limit_as_caller
        code_gas = self.wallet.code_gas if self.wallet.is_contract else 0
        return ExecutionWay(
            kind,
            approvals,
            (),
            counts=not is_signed or self.wallet.signs is True,
            sent=[*self._approving(approvals, code_gas), SentGas(used + code_gas, limit + code_gas)],
            approval_gas=each,
            is_estimated=self.sweep.tried_used is None
            or self.wallet.is_contract
            or not all(self._was_tried(one) for one in approvals),
        )

    def _with_permits(self, positions: Sequence[int]) -> ExecutionWay:
        each = {token.asset: self._permitted(token) for token in (self.tokens[position] for position in positions)}
        return ExecutionWay(
            WayKind.PERMITS,
            (),
            positions,
            counts=self.wallet.signs is True,
            sent=[SentGas(self.sweep.used + sum(each.values()), self.sweep.limit(token_permits=len(positions)))],
            approval_gas=each,
            is_estimated=True,
        )

    def _permitted(self, token: ApprovableToken) -> int:
        counted = COUNTED_NONCE if token.permits is not None and token.permits.nonce else 0
        return (KEPT_PERMIT if self.unlimited else USED_PERMIT) - counted

    def _was_tried(self, approval: Approval) -> bool:
        return (approval.token, approval.spender) in self.approvals_used

    def _used(self, approval: Approval) -> int:
        tried = self.approvals_used.get((approval.token, approval.spender))
        if tried is not None:
            return tried
        if approval.current == 0:  # a first approval of one spender costs what that of another one does
            others = (gas for (token, _), gas in self.approvals_used.items() if token == approval.token)
            return next(others, NEW_APPROVAL)
        if len(approval.amounts) > 1:
            return RESET + NEW_APPROVAL
        return OTHER_APPROVAL

    def _approving(self, approvals: Sequence[Approval], code_gas: int) -> Iterator[SentGas]:
        for approval in approvals:
            gas = self._used(approval) // len(approval.amounts)
            limit = approval_limit(self.approvals_used, approval)
            yield from [SentGas(gas + code_gas, limit + code_gas)] * len(approval.amounts)

    def _limit(self, approval: Approval) -> int:
        return approval_limit(self.approvals_used, approval) * len(approval.amounts)

    @property
    def _cleared_otherwise(self) -> int:
        """What the sweep uses more from allowances of Permit2 than from those of the contract, which were tried."""
        return sum(self._spending(token, self.permit2) - self._spending(token, self.contract) for token in self._swept)

    def _spending(self, token: ApprovableToken, spender: str) -> int:
        """Return what it costs to lower the allowance that the sweep uses."""
        final = self.approval(token, spender).final
        if final == UNLIMITED:
            return 0
        return KEPT_WRITE - (CLEARED if final == token.amount else 0)


def approval_limit(approvals_used: Mapping[tuple[str, str], int], approval: Approval) -> int:
    """Return the gas limit of each transaction of an approval."""
    tried = approvals_used.get((approval.token, approval.spender))
    return UNTRIED_APPROVAL_LIMIT if tried is None else tried * APPROVAL_LIMIT_PERCENT // 100


def added_bytes(token: ApprovableToken, way: ExecutionWay) -> int:
    """Return what the approval or permit of the token adds to the data of a sweep in this way, as ``more_bytes``."""
    if way.kind is WayKind.PERMITS:
        return TOKEN_PERMIT_BYTES if token.asset in way.approval_gas else 0
    approvals = sum(len(one.amounts) for one in way.approvals if one.token == token.asset)
    return approvals * (BATCHED_CALL_BYTES if way.is_batch else APPROVAL_BYTES)


def added_gas(token: ApprovableToken, way: ExecutionWay, leg: int) -> int:
    """Return what a token whose leg uses this much adds to the gas of a sweep in this way."""
    is_signed = way.kind in (WayKind.PERMITS, WayKind.PERMIT2)
    return leg + way.approval_gas.get(token.asset, 0) + (PERMIT2_PER_TOKEN if is_signed else 0)
