"""The receipt of a sweep: who was paid what by which transaction and why, once none of it can change.

It is made of stored rows alone, and is the same each time. Two providers have shown what it says of the chain.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db import transaction
from django.db.models import prefetch_related_objects

from ledger.entries.records import Record, records_about
from ledger.models import JournalEntry
from partners.authentication import Requester
from sweepapi.errors import FieldError, ReceiptNotReady, SweepNotFound
from sweepapi.fees import NOTHING, Split
from sweeps.models import Execution, Sweep, SweepStatus, SweepTransaction
from sweeps.protocol.evidence import Evidence
from sweeps.protocol.rail import Rail
from sweeps.rails.registry import RAILS
from sweeps.story.reach import visible_to

Finality = SweepTransaction.Finality


@dataclass(frozen=True)
class ExecutionReceipt:
    """One execution that happened, and its transaction."""

    execution: Execution
    transaction: SweepTransaction
    evidence: Evidence


@dataclass(frozen=True)
class SweepReceipt:
    """A completed sweep whose executions are final, with those that happened."""

    sweep: Sweep
    rail: Rail
    executions: Sequence[ExecutionReceipt]
    entries: Sequence[Record]

    @property
    def amounts(self) -> Split:
        return sum((one.execution.amounts for one in self.executions), start=NOTHING)

    @cached_property
    def evidence(self) -> Evidence:
        """What holds for the whole sweep."""
        return self.executions[0].evidence


@transaction.atomic
def receipt_of(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> SweepReceipt:
    """Return the receipt of a sweep on one of these rails, in a fixed number of queries.

    The row is locked, so that nothing changes between them. Raises ``SweepNotFound``, for any that the key does not
    reach too, and ``ReceiptNotReady``.
    """
    rows = Sweep.objects.select_for_update(of=("self",), no_key=True).select_related("partner")
    sweep = rows.filter(visible_to(requester, rails=rails), id=sweep_id).first()
    if sweep is None:
        raise SweepNotFound
    prefetch_related_objects([sweep], "executions__transactions")
    accepted = _accepted(sweep)
    entries = records_about(sweep.id)
    is_numbered = len(entries) == JournalEntry.objects.filter(sweep_ref=sweep.id).count()
    if sweep.status != SweepStatus.COMPLETED or sweep.is_open or not is_numbered:
        raise ReceiptNotReady(details=[_current("status", sweep.status), _current("finality", _finality(accepted))])
    rail = RAILS[sweep.rail]
    executions = [
        ExecutionReceipt(execution, tx, rail.present.evidence(sweep, execution)) for execution, tx in accepted
    ]
    return SweepReceipt(sweep, rail, executions, entries)


def _accepted(sweep: Sweep) -> Sequence[tuple[Execution, SweepTransaction]]:
    return [
        (execution, tx)
        for execution in sweep.executions.all()
        for tx in execution.transactions.all()
        if tx.status == SweepTransaction.Status.ACCEPTED
    ]


def _finality(accepted: Sequence[tuple[Execution, SweepTransaction]]) -> str:
    """Return how deep the least deep transaction lies."""
    return min((Finality(tx.finality) for _, tx in accepted), key=list(Finality).index, default=Finality.NONE)


def _current(field: str, value: str) -> FieldError:
    return FieldError(field, "current", value)
