"""Stores a sweep whose build was lost, as after a restored backup, from what the chain shows of its execution.

It is completed, closed and booked from the start. Its offer, its tokens and all that was only signed are not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from ledger.entries import posting
from ledger.models import Settlement
from partners.models import Partner
from sweepapi.fees import Split
from sweepapi.postgres.clock import database_time
from sweeps.models import EventKind, Execution, Flag, Sweep, SweepStatus, SweepTransaction
from sweeps.protocol.rail import Inclusion, OutputAsset
from sweeps.store import transitions
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write


class NotAdoptableError(Exception):
    """What the chain shows can't be adopted; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """Everything that is known of an adopted sweep."""

    sweep_id: UUID
    partner: Partner
    rail: str
    network: str
    venue: str
    execution_id: str
    wallet: str
    output: OutputAsset
    partner_recipient: str | None  # None where the partner is paid later
    protocol_recipient: str
    settlement: Settlement
    tx_hash: str
    inclusion: Inclusion  # in a final block
    log_position: int | None  # of its event among the contract's logs in it; None without logs
    amounts: Split
    circumstances: Mapping[str, str]  # for its history, such as who adopted it


def store(adopted: Adopted) -> Sweep:
    """Store the sweep and book its fee, in the caller's transaction.

    Raises IntegrityError if its execution is stored already.
    """
    stored = _stored(adopted)
    (execution,) = stored.executions
    fee = _fee(adopted, execution)
    tx_hash, block = adopted.tx_hash, adopted.inclusion
    transitions.adopted(stored, tx_hash=tx_hash, **adopted.circumstances)
    transitions.note(stored, EventKind.ACCEPTED, tx_hash=tx_hash, block=block.block_number)
    if fee.total_fee:
        stored.fees.append(fee)
        stored.final_entries.append(fee.entry_id)
        execution.ledger_entry_id = fee.entry_id
        transitions.note(stored, EventKind.POSTED, tx_hash=tx_hash, entry=str(fee.entry_id))
    transitions.close(stored)
    write([stored])
    return stored.sweep


def _stored(adopted: Adopted) -> StoredSweep:
    now, block = database_time(), adopted.inclusion
    sweep = _sweep(adopted, now)
    execution = _execution(adopted, sweep)
    tx = SweepTransaction(
        sweep=sweep,
        execution=execution,
        tx_hash=adopted.tx_hash,
        status=SweepTransaction.Status.ACCEPTED,
        source=SweepTransaction.Source.DISCOVERED,
        finality=SweepTransaction.Finality.FINAL,
        block_number=block.block_number,
        block_hash=block.block_hash,
        gas_used=block.gas_used,
        log_position=adopted.log_position,
        confirmed_at=now,
    )
    return StoredSweep(sweep, now, executions=[execution], candidates=[tx])


def _sweep(adopted: Adopted, now: datetime) -> Sweep:
    return Sweep(
        id=adopted.sweep_id,
        partner=adopted.partner,
        rail=adopted.rail,
        network=adopted.network,
        wallet=adopted.wallet,
        output_asset=adopted.output.asset,
        output_symbol=adopted.output.symbol,
        output_decimals=adopted.output.decimals,
        partner_recipient=adopted.partner_recipient,
        protocol_recipient=adopted.protocol_recipient,
        settlement=adopted.settlement,
        flags=[Flag.ADOPTED],
        status=SweepStatus.COMPLETED,
        completed_at=now,
        created_at=now,
    )


def _execution(adopted: Adopted, sweep: Sweep) -> Execution:
    execution = Execution(
        sweep=sweep,
        network=adopted.network,
        venue=adopted.venue,
        execution_id=adopted.execution_id,
        built_at_height=adopted.inclusion.block_number,
        status=Execution.Status.EXECUTED,
        closed_at=sweep.completed_at,
    )
    execution.amounts = adopted.amounts
    return execution


def _fee(adopted: Adopted, execution: Execution) -> posting.SweepFee:
    return posting.SweepFee(
        sweep_ref=adopted.sweep_id,
        execution_ref=execution.id,
        booking_epoch=execution.booking_epoch,
        partner=adopted.partner,
        network=adopted.network,
        asset=adopted.output.asset,
        symbol=adopted.output.symbol,
        decimals=adopted.output.decimals,
        wallet=adopted.wallet,
        tx_hash=adopted.tx_hash,
        total_fee=adopted.amounts.total_fee,
        partner_fee=adopted.amounts.partner_fee,
        settlement=adopted.settlement,
    )
