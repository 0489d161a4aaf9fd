"""Confirms a sweep: stores the hash that the partner reports, looks at the chain once, settles, returns the result.

The candidate is stored before a provider is queried, so nothing is lost if none answers. Parallel confirms take the
row's lock instead of a lease, so their order does not matter.
"""

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from partners.models import Partner
from sweepapi.errors import (
    EventMismatch,
    FieldError,
    SweepAlreadyConfirmed,
    SweepExpired,
    SweepFailed,
    SweepNotFound,
    SweepVoid,
    TooManyCandidates,
    TransactionReverted,
)
from sweeps import schedule, transitions
from sweeps.executions import REVERTED
from sweeps.models import (
    NO_PROVIDER_ANSWERED,
    Cause,
    EventKind,
    Execution,
    Sweep,
    SweepStatus,
    SweepTransaction,
)
from sweeps.nudge import nudge
from sweeps.rails.rail import Mismatch
from sweeps.rails.registry import RAILS, V2_RAILS
from sweeps.settle import Settled, settle

# Candidates that are looked up at the same time; at the limit, a new one displaces one that was never seen.
MAX_CANDIDATES = 10
# Candidates that are stored, displaced ones included, which bounds a flood of invented hashes. The worker finds an
# execution even if its hash was refused.
MAX_STORED_CANDIDATES = 100

Tx = SweepTransaction.Status


def confirm_sweep(*, partner: Partner, sweep_id: UUID, tx_hash: str) -> Sweep:
    """Record a hash (in its canonical form) for a sweep, look it up, and return the sweep, completed or pending.

    Raises ``SweepNotFound`` (for another partner's sweep, too), ``SweepExpired``, ``SweepVoid``, ``SweepFailed``,
    ``SweepAlreadyConfirmed`` and ``TooManyCandidates`` before any provider is queried, and ``EventMismatch`` or
    ``TransactionReverted`` after the outcome is stored.
    """
    deadline = time.monotonic() + settings.CONFIRM_TIMEOUT_SECONDS
    sweep, watched = _admit(partner=partner, sweep_id=sweep_id, tx_hash=tx_hash)
    if watched is None:
        return _answer(Settled(sweep), tx_hash, deadline)
    rail = RAILS[sweep.rail]
    ((_, seen),) = rail.see(sweep.network, [watched], timeout_seconds=settings.CONFIRM_TIMEOUT_SECONDS)
    if seen is None:
        sweep.last_error = NO_PROVIDER_ANSWERED
        # Unless the worker's look succeeded in the meantime.
        unsettled = Sweep.objects.filter(id=sweep.id, check_attempts=sweep.check_attempts)
        unsettled.update(last_error=NO_PROVIDER_ANSWERED)
        _nudge_for(sweep)
        return sweep
    return _answer(settle(sweep_id=sweep.id, seen=seen), tx_hash, deadline)


def _admit(*, partner: Partner, sweep_id: UUID, tx_hash: str) -> tuple[Sweep, Any]:
    """Store the candidate and return what to watch, None if nothing needs a lookup; raise if the sweep is decided."""
    with transaction.atomic():
        sweep = (
            Sweep.objects.select_for_update(of=("self",))
            .select_related("partner")
            .filter(id=sweep_id, partner=partner, rail__in=V2_RAILS)
            .first()
        )
        if sweep is None:
            raise SweepNotFound
        candidates = list(sweep.transactions.all())
        known = next((tx for tx in candidates if tx.tx_hash == tx_hash), None)
        _refuse_decided(sweep, candidates, known)
        has_reverted = known is not None and known.status == Tx.REVERTED
        if sweep.status == SweepStatus.COMPLETED or (sweep.status == SweepStatus.FAILED and has_reverted):
            return sweep, None
        _record(sweep, candidates, tx_hash)
        return sweep, RAILS[sweep.rail].watch([sweep])[0]


def _refuse_decided(sweep: Sweep, candidates: Sequence[SweepTransaction], known: SweepTransaction | None) -> None:
    if sweep.status == SweepStatus.EXPIRED:
        raise SweepExpired
    if sweep.status == SweepStatus.VOID:
        raise SweepVoid
    if sweep.status == SweepStatus.COMPLETED and (known is None or known.status != Tx.ACCEPTED):
        raise _already_confirmed(next(tx for tx in candidates if tx.status == Tx.ACCEPTED))
    if sweep.status == SweepStatus.FAILED and not sweep.is_open and (known is None or known.status != Tx.REVERTED):
        raise SweepFailed


def _already_confirmed(accepted: SweepTransaction) -> SweepAlreadyConfirmed:
    return SweepAlreadyConfirmed(details=[FieldError("txHash", "accepted_hash", accepted.tx_hash)])


def _record(sweep: Sweep, candidates: Sequence[SweepTransaction], tx_hash: str) -> None:
    execution = sweep.executions.get()  # on rails that support confirming, a sweep has one execution
    known = next((tx for tx in candidates if tx.tx_hash == tx_hash), None)
    if known is None and len(candidates) >= MAX_STORED_CANDIDATES:
        raise TooManyCandidates
    if known is None or known.status == Tx.DISPLACED:
        _make_room(sweep, candidates)
    if known is None:
        SweepTransaction.objects.create(sweep=sweep, execution=execution, tx_hash=tx_hash)
        transitions.note(sweep, EventKind.REPORTED, tx_hash=tx_hash)
    elif known.status in (Tx.REJECTED, Tx.DISPLACED):  # reported again, so judged again; the event was written before
        known.status, known.submitted_at = Tx.SUBMITTED, timezone.now()
        known.save(update_fields=["status", "submitted_at"])
    if sweep.status == SweepStatus.FAILED:
        execution.status = Execution.Status.PENDING
        execution.save(update_fields=["status"])
        transitions.move(sweep, SweepStatus.PENDING, Cause.REPORTED, tx_hash=tx_hash)
    first_check_at = schedule.first_check(timezone.now())
    sweep.next_check_at = min(sweep.next_check_at or first_check_at, first_check_at)
    sweep.save()


def _make_room(sweep: Sweep, candidates: Sequence[SweepTransaction]) -> None:
    """If the limit is reached, displace the candidate never seen on chain whose last report is the oldest."""
    polled = [tx for tx in candidates if tx.status != Tx.DISPLACED]
    if len(polled) < MAX_CANDIDATES:
        return
    unseen = [tx for tx in polled if tx.status == Tx.SUBMITTED and tx.block_number is None]
    if not unseen:
        raise TooManyCandidates
    oldest = min(unseen, key=attrgetter("submitted_at"))
    oldest.status = Tx.DISPLACED
    oldest.save(update_fields=["status"])
    if not sweep.events.filter(kind=EventKind.DISPLACED, tx_hash=oldest.tx_hash).exists():
        transitions.note(sweep, EventKind.DISPLACED, tx_hash=oldest.tx_hash)


def _answer(settled: Settled, tx_hash: str, deadline: float) -> Sweep:
    sweep = settled.sweep
    if sweep.status == SweepStatus.VOID:  # the worker found the cancellation during this lookup
        raise SweepVoid
    tx = sweep.transactions.get(tx_hash=tx_hash)
    # Displaced by other confirms while this one looked, it is not among those that an execution replaces.
    if tx.status == Tx.REPLACED or (tx.status == Tx.DISPLACED and sweep.status == SweepStatus.COMPLETED):
        accepted = sweep.transactions.filter(status=Tx.ACCEPTED).first()  # none if its block just left the chain
        if accepted is not None:
            raise _already_confirmed(accepted)
    if tx.status == Tx.REVERTED:
        raise TransactionReverted(details=_explained(tx, deadline))
    if tx.status == Tx.DROPPED:
        raise SweepFailed
    if tx.status == Tx.REJECTED:
        # Another check may have judged the hash; then the reason is stored with the transaction.
        mismatches = settled.mismatches(tx_hash) or [Mismatch("event", "differs", tx.reason)]
        raise EventMismatch(details=_details(mismatches))
    if sweep.status == SweepStatus.PENDING:
        _nudge_for(sweep)
    return sweep


def _explained(tx: SweepTransaction, deadline: float) -> list[FieldError]:
    """Return why the transaction reverted, and store the explanation; empty if the time is too short to find out."""
    if tx.reason != REVERTED:
        return [FieldError("txHash", "reverted", tx.reason)]
    reasons = RAILS[tx.sweep.rail].explain_revert(tx, timeout_seconds=deadline - time.monotonic())
    if reasons:
        reverted = SweepTransaction.objects.filter(id=tx.id, status=Tx.REVERTED)  # unless it was judged again meanwhile
        reverted.update(reason=" ".join(reason.message for reason in reasons))
    return _details(reasons)


def _details(mismatches: Sequence[Mismatch]) -> list[FieldError]:
    return [FieldError(mismatch.field, mismatch.code, mismatch.message) for mismatch in mismatches]


def _nudge_for(sweep: Sweep) -> None:
    if sweep.next_check_at is not None:
        nudge(sweep.id, at=sweep.next_check_at)
