"""What became of the sweeps that lies are about: the status, the webhooks' messages and the entries of each."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from lab.matrix.changes import GROSS, WORD_DIGITS
from lab.matrix.mutations import HONEST, NOTHING, OTHER, REFUSED, Mutation, Right
from lab.matrix.told import Told
from ledger.models import JournalEntry
from partners.webhooks.models import WebhookMessage
from sweeps.models import Execution, Sweep, SweepTransaction

WHO: Mapping[str, tuple[bool, ...]] = {  # which of the providers lie
    "only": (True,),
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
}
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Subject:
    """A sweep that a lie is about."""

    mutation: Mutation
    told: Told
    sweep_id: UUID


@dataclass(frozen=True)
class Fate:
    """What became of it."""

    right: Right
    messages: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


def fates(subjects: Mapping[Key, Subject], *, executed: Iterable[str]) -> dict[Key, Fate]:
    """Return what became of each; ``executed`` are the hashes of the transactions that the chain has."""
    ids = [one.sweep_id for one in subjects.values()]
    on_chain = set(executed)
    sweeps = Sweep.objects.in_bulk(ids)
    txs = {tx.sweep_id: tx for tx in SweepTransaction.objects.filter(sweep__in=ids)}
    executions = {one.sweep_id: one for one in Execution.objects.filter(sweep__in=ids)}
    messages = _by_sweep(
        WebhookMessage.objects.filter(sweep_ref__in=ids).order_by("sequence").values_list("sweep_ref", "type")
    )
    entries = _by_sweep(
        JournalEntry.objects.filter(sweep_ref__in=ids).order_by("posted_at").values_list("sweep_ref", "kind")
    )
    return {
        key: Fate(
            _right(one.told, sweeps[one.sweep_id], executions[one.sweep_id], txs.get(one.sweep_id), on_chain),
            messages.get(one.sweep_id, ()),
            entries.get(one.sweep_id, ()),
        )
        for key, one in subjects.items()
    }


def _right(told: Told, sweep: Sweep, execution: Execution, tx: SweepTransaction | None, on_chain: set[str]) -> Right:
    if sweep.status == "completed" and tx is not None:
        (own,) = filter(told.is_ours, told.receipt["logs"])
        start = 2 + WORD_DIGITS * GROSS
        happened = (int(own["data"][start : start + WORD_DIGITS], 16), told.block_hash)
        is_honest = (execution.gross_output, tx.block_hash) == happened and told.tx_hash in on_chain
        return HONEST if is_honest else OTHER
    if sweep.status != "pending" or (tx is not None and tx.status != "submitted"):
        return REFUSED
    return NOTHING if tx is None else Right(f"waits for {tx.awaits or 'receipt'}")


def _by_sweep(rows: Iterable[tuple[UUID | None, str]]) -> dict[UUID, tuple[str, ...]]:
    found: dict[UUID, tuple[str, ...]] = {}
    for sweep_id, value in rows:
        if sweep_id is not None:
            found[sweep_id] = (*found.get(sweep_id, ()), value)
    return found
