"""What the rail follows of a sweep: of each execution its reference key, or the transaction that was accepted."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings

from sweepapi.fees import NOTHING, Split
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweepapi.solana.landed.progress import ReferenceSearch
from sweepapi.solana.landed.sightings import Subject
from sweepapi.solana.landed.tracking import Tracked
from sweepapi.solana.landed.transactions import Landed, LandedInstruction
from sweeps.models import Execution, SweepTransaction
from sweeps.protocol.rail import FeeTerms
from sweeps.rails.solana_v1.models import BuiltTransaction
from sweeps.store.stored import StoredSweep

# When a sweep ends is estimated. A provider that has not seen the last block by this much later is far behind.
OVERDUE = timedelta(minutes=1)

Tx = SweepTransaction.Status


def ends_at(deadline: datetime) -> datetime:
    """Return about when a sweep that did not land is called expired: after the grace for newer blockhashes."""
    return deadline + timedelta(seconds=settings.SOLANA_EXPIRY_GRACE_SECONDS)


@dataclass(frozen=True)
class SolanaAcceptance:
    """The transaction that was accepted, the block that it was found in, and what it paid."""

    signature: str
    slot: int
    block_hash: str
    paid: Split


@dataclass(frozen=True)
class FollowedExecution:
    """The facts about one execution that reading and deciding need."""

    id: UUID
    is_open: bool
    reference: str
    built_at_slot: int
    awaited_until_height: int
    fee_account: str
    instructions: tuple[LandedInstruction, ...]
    token_count: int
    min_gross: int
    search_cursor: str  # the signature up to which everything that names the reference was read; blank if nothing was
    known: frozenset[str]  # signatures of its candidates
    accepted: SolanaAcceptance | None

    def is_built(self, landed: Landed) -> bool:
        """Whether a transaction is the one that was built."""
        return landed.instructions == self.instructions


@dataclass(frozen=True)
class FollowedSolanaSweep:
    """The facts about a sweep that reading and deciding need."""

    sweep_id: UUID
    wallet: str
    output_asset: str
    fees: FeeTerms
    deadline: datetime
    executions: tuple[FollowedExecution, ...]

    def subjects(self, now: datetime) -> Iterator[Subject]:
        """Yield what to read: the executions that the cluster may still change."""
        is_overdue = now > ends_at(self.deadline) + OVERDUE
        return (self._subject(one, is_overdue=is_overdue) for one in self.executions if one.is_open)

    def _subject(self, execution: FollowedExecution, *, is_overdue: bool) -> Subject:
        if execution.accepted is not None:
            return Tracked(execution.id, execution.accepted.signature, execution.accepted.slot)
        return ReferenceSearch(
            key=execution.id,
            reference=execution.reference,
            built_at_slot=execution.built_at_slot,
            awaited_until_height=execution.awaited_until_height,
            read_up_to=execution.search_cursor,
            is_overdue=is_overdue,
            executes=partial(self._is_executed_by, execution),
        )

    def _is_executed_by(self, execution: FollowedExecution, landed: Landed) -> bool:
        return execution.is_built(landed) and landed.is_successful and self.paid(execution, landed) is not None

    def paid(self, execution: FollowedExecution, landed: Landed) -> Split | None:
        """Return what it paid, from the balances that it changed; None unless the fee is that of the output.

        The swap API takes the fee from each swap and rounds it there, so it may differ by a unit for each token.
        """
        fee = landed.account_gain(execution.fee_account, self.output_asset)
        user_amount = user_gain(landed, self.wallet, self.output_asset)
        if execution.token_count == 0:  # it only closes accounts
            return NOTHING if fee == 0 else None
        gross = user_amount + fee
        if fee < 0 or user_amount <= 0:
            return None
        if not self.fees.matches(gross, fee, swaps=execution.token_count):
            return None
        return self.fees.split_paid(gross, fee)


def user_gain(landed: Landed, wallet: str, output_asset: str) -> int:
    """Return what a wallet gained of the output of a sweep; negative if it lost."""
    if output_asset == str(WRAPPED_SOL):  # it is unwrapped for the user
        return landed.lamports_gain(wallet)
    return landed.token_gain(wallet, output_asset)


def follow(sweeps: Sequence[StoredSweep]) -> list[FollowedSolanaSweep]:
    """Return what to read, in the order of the sweeps."""
    return [_followed(stored) for stored in sweeps]


def _followed(stored: StoredSweep) -> FollowedSolanaSweep:
    sweep = stored.sweep
    return FollowedSolanaSweep(
        sweep_id=sweep.id,
        wallet=sweep.wallet,
        output_asset=sweep.output_asset,
        fees=FeeTerms.of(sweep),
        deadline=sweep.deadline,
        executions=tuple(_execution(stored, one, one.built) for one in stored.executions),
    )


def _execution(stored: StoredSweep, execution: Execution, built: BuiltTransaction) -> FollowedExecution:
    candidates = stored.candidates_of(execution)
    tx = next((tx for tx in candidates if tx.status == Tx.ACCEPTED), None)
    return FollowedExecution(
        id=execution.id,
        is_open=execution.closed_at is None,
        reference=execution.execution_id,
        built_at_slot=execution.built_at_height,
        awaited_until_height=built.awaited_until_height,
        fee_account=built.fee_account,
        instructions=tuple(
            LandedInstruction(one["program"], tuple(one["accounts"]), base64.b64decode(one["data"]))
            for one in built.instructions
        ),
        token_count=sum(token.execution_id == execution.id for token in stored.tokens),
        min_gross=execution.min_gross,
        search_cursor=execution.search_cursor,
        known=frozenset(tx.tx_hash for tx in candidates),
        accepted=None if tx is None else SolanaAcceptance(tx.tx_hash, *tx.block, execution.amounts),
    )
