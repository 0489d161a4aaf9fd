"""What the rail watches of a sweep: of each execution its reference key, or the transaction that was accepted."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import prefetch_related_objects

from sweepapi.fees import Split
from sweepapi.solana.landed import LandedInstruction
from sweepapi.solana.searching import Search
from sweepapi.solana.sightings import Subject
from sweepapi.solana.tracking import Tracked
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.solana_v1.models import BuiltTransaction

# The deadline is an estimate. A provider that has not seen the end of the blockhash by then is far behind.
OVERDUE = timedelta(minutes=1)

Tx = SweepTransaction.Status


@dataclass(frozen=True)
class Accepted:
    """The transaction that was accepted, the block that it was seen in, and what it paid."""

    signature: str
    slot: int
    block_hash: str
    paid: Split


@dataclass(frozen=True)
class WatchedExecution:
    """The facts about one execution that looking and judging need."""

    id: UUID
    is_open: bool
    reference: str
    built_at_slot: int
    last_valid_height: int
    fee_account: str
    instructions: tuple[LandedInstruction, ...]
    token_count: int
    search_cursor: str  # the signature up to which everything that names the reference was read; blank if nothing was
    known: frozenset[str]  # signatures of its candidates
    accepted: Accepted | None

    def subject(self, *, is_overdue: bool) -> Subject:
        """Return what to look for on the cluster."""
        if self.accepted is not None:
            return Tracked(self.id, self.accepted.signature, self.accepted.slot)
        return Search(
            key=self.id,
            reference=self.reference,
            built_at_slot=self.built_at_slot,
            last_valid_height=self.last_valid_height,
            read_up_to=self.search_cursor,
            is_overdue=is_overdue,
        )


@dataclass(frozen=True)
class Watched:
    """The facts about a sweep that looking and judging need."""

    sweep_id: UUID
    wallet: str
    output_asset: str
    fee_bps: int
    partner_share_bps: int  # of the fee
    deadline: datetime
    executions: tuple[WatchedExecution, ...]

    def subjects(self, now: datetime) -> Iterator[Subject]:
        """Yield what to look for: the executions that the cluster may still change."""
        is_overdue = now > self.deadline + OVERDUE
        return (one.subject(is_overdue=is_overdue) for one in self.executions if one.is_open)


def watch(sweeps: Sequence[Sweep]) -> list[Watched]:
    """Return what to look for, in the order of the sweeps."""
    prefetch_related_objects(list(sweeps), "executions__transactions", "executions__tokens", "executions__built")
    return [_watched(sweep) for sweep in sweeps]


def _watched(sweep: Sweep) -> Watched:
    return Watched(
        sweep_id=sweep.id,
        wallet=sweep.wallet,
        output_asset=sweep.output_asset,
        fee_bps=sweep.total_fee_bps,
        partner_share_bps=sweep.partner_share_bps,
        deadline=sweep.deadline,
        executions=tuple(_execution(one, one.built) for one in sweep.executions.all()),
    )


def _execution(execution: Execution, built: BuiltTransaction) -> WatchedExecution:
    candidates = list(execution.transactions.all())
    tx = next((tx for tx in candidates if tx.status == Tx.ACCEPTED), None)
    return WatchedExecution(
        id=execution.id,
        is_open=execution.closed_at is None,
        reference=execution.execution_id,
        built_at_slot=execution.built_at_height,
        last_valid_height=built.last_valid_block_height,
        fee_account=built.fee_account,
        instructions=tuple(
            LandedInstruction(one["program"], tuple(one["accounts"]), base64.b64decode(one["data"]))
            for one in built.instructions
        ),
        token_count=len(execution.tokens.all()),
        search_cursor=execution.search_cursor,
        known=frozenset(tx.tx_hash for tx in candidates),
        accepted=None if tx is None else Accepted(tx.tx_hash, *tx.block, execution.amounts),
    )
