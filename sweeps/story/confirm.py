"""Confirms a sweep: reads the chain once for the hashes that the partner reports, stores them, settles, and answers.

The candidates and what the check showed are stored by one transaction, also if no provider answers, and always before
the partner has an answer. Parallel confirms take the row's lock instead of a lease, so their order does not matter.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from uuid import UUID

from django.conf import settings
from django.db import transaction

from partners.authentication import Requester
from partners.outside import outside_place
from sweepapi.errors import (
    EventMismatch,
    FieldError,
    InvalidRequest,
    SweepApiError,
    SweepFailed,
    TooManyAtOnce,
    TooManyCandidates,
    TransactionReverted,
)
from sweepapi.networks import Networks
from sweeps import schedule
from sweeps.models import Cause, EventKind, Execution, Sweep, SweepEvent, SweepStatus, SweepTransaction
from sweeps.protocol.presentation import Snapshot
from sweeps.protocol.rail import Mismatch
from sweeps.rails.registry import RAILS, V2_RAILS
from sweeps.shown.reading import read_snapshot
from sweeps.store import reading, transitions
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write
from sweeps.story.decided import already_confirmed, refuse_decided
from sweeps.story.executions import REVERTED
from sweeps.story.settle import Settled, SweepReading, follow, settle_together, store_report
from sweeps.wake import wake

# Candidates that are looked up at the same time; at the limit, a new one displaces one that was never seen.
MAX_CANDIDATES = 10
# Candidates that are stored, displaced ones included, which bounds a flood of invented hashes. The worker finds an
# execution even if its hash was refused.
MAX_STORED_CANDIDATES = 100

Tx = SweepTransaction.Status
# A hash that decided its sweep may be reported again, and has the same answer each time.
DECIDED_BY = {(SweepStatus.COMPLETED, Tx.ACCEPTED), (SweepStatus.FAILED, Tx.REVERTED)}


def confirm_sweep(
    registry: Networks, *, requester: Requester, sweep_id: UUID, tx_hashes: Sequence[str], network: str | None = None
) -> Snapshot:
    """Record hashes (in their canonical form) for a sweep, look them up, and return the sweep as it is stored then.

    A wallet that reports a batch of calls also names the ``network``. Raises ``SweepNotFound`` (for a sweep that
    the key does not reach, too), ``InvalidRequest`` if the sweep is on another network, ``SweepExpired``,
    ``SweepVoid``, ``SweepFailed``, ``SweepAlreadyConfirmed`` and ``TooManyCandidates`` before any provider is queried,
    and ``EventMismatch`` or ``TransactionReverted`` after the outcome is stored, if it is that of all the hashes.

    If a hash that executed the sweep is reported again, one statement reads the answer, and nothing is locked.
    """
    deadline = time.monotonic() + settings.CONFIRM_TIMEOUT_SECONDS
    found = read_snapshot(requester, sweep_id, rails=V2_RAILS)
    if network not in (None, found["network"]):
        problem = FieldError("callsStatus.chainId", "other_chain", f"The sweep is on {found['network']}.")
        raise InvalidRequest(details=[problem])
    if _was_executed_by(found, tx_hashes):
        return found
    settled = _check(registry, reading.read([sweep_id])[sweep_id], tx_hashes, requester)
    _refuse_refused(registry, settled, tx_hashes, requester, deadline)
    sweep = settled.stored.sweep
    if sweep.status == SweepStatus.PENDING and sweep.next_check_at is not None:
        wake(sweep_id, at=sweep.next_check_at)
    return read_snapshot(requester, sweep_id, rails=V2_RAILS)


def _was_executed_by(found: Snapshot, tx_hashes: Sequence[str]) -> bool:
    accepted = {tx["tx_hash"] for tx in found["transactions"] if tx["status"] == SweepTransaction.Status.ACCEPTED}
    return found["status"] == SweepStatus.COMPLETED and not accepted.isdisjoint(tx_hashes)


def _check(registry: Networks, stored: StoredSweep, tx_hashes: Sequence[str], requester: Requester) -> Settled:
    """Record the hashes for a sweep that is not locked, look them up once, and store both together.

    Without a place for a request that waits for the chain, they are stored, and the worker looks them up.
    """
    record = partial(_record, tx_hashes)
    if not record(stored):
        return Settled(stored)
    rail = RAILS[stored.sweep.rail]
    settled = None
    try:
        (followed,) = follow([stored])
        with outside_place(requester):
            (((_, answer),),) = rail.read(
                registry, stored.sweep.network, [followed.by_rail], timeout_seconds=settings.CONFIRM_TIMEOUT_SECONDS
            )
        (settled,) = settle_together([SweepReading(stored.id, answer, followed, record)])
    except TooManyAtOnce:
        return Settled(stored)
    finally:
        if settled is None:  # whatever happened to the check, the report is stored
            store_report(stored.id, record)
    return settled


def _record(tx_hashes: Sequence[str], stored: StoredSweep) -> bool:
    """Add the candidates; returns False if one of them decided the sweep, raises if another did."""
    known = {tx.tx_hash: tx.status for tx in stored.candidates}
    if _is_decided_by(stored.sweep, [known.get(tx_hash) for tx_hash in tx_hashes]):
        return False
    refuse_decided(stored.sweep)
    _record_candidates(stored, tx_hashes)
    return True


def _is_decided_by(sweep: Sweep, reported: Sequence[str | None]) -> bool:
    """Whether one of the reported transactions, whose statuses these are, decided the sweep for good."""
    decided = [(sweep.status, status) in DECIDED_BY for status in reported]
    may_change = sweep.status == SweepStatus.FAILED and sweep.is_open
    return all(decided) if may_change else any(decided)


def _record_candidates(stored: StoredSweep, tx_hashes: Sequence[str]) -> None:
    (execution,) = stored.executions  # on rails that support confirming, a sweep has one execution
    for position, tx_hash in enumerate(tx_hashes):  # each a little later, so that the last ones are the newest
        at = stored.now + position * timedelta.resolution
        _record_candidate(stored, execution, tx_hash, at)
    sweep = stored.sweep
    if sweep.status == SweepStatus.FAILED:
        execution.status = Execution.Status.PENDING
        transitions.move(stored, SweepStatus.PENDING, Cause.REPORTED, tx_hash=tx_hashes[-1])
    first_check_at = schedule.first_check(stored.now)
    sweep.next_check_at = min(sweep.next_check_at or first_check_at, first_check_at)


def _record_candidate(stored: StoredSweep, execution: Execution, tx_hash: str, at: datetime) -> None:
    """Add the hash to the candidates, or have it decided again if it was reported before."""
    sweep, candidates = stored.sweep, stored.candidates
    known = next((tx for tx in candidates if tx.tx_hash == tx_hash), None)
    if known is None and len(candidates) >= MAX_STORED_CANDIDATES:
        raise TooManyCandidates
    if known is None or known.status == Tx.DISPLACED:
        _make_room(stored)
    if known is None:
        candidates.append(SweepTransaction(sweep=sweep, execution=execution, tx_hash=tx_hash, submitted_at=at))
        transitions.note(stored, EventKind.REPORTED, tx_hash=tx_hash)
    elif known.status in (Tx.REJECTED, Tx.DISPLACED):  # the event was written before
        known.status, known.submitted_at = Tx.SUBMITTED, at


def _make_room(stored: StoredSweep) -> None:
    """If the limit is reached, displace the candidate never seen on chain whose last report is the oldest."""
    polled = [tx for tx in stored.candidates if tx.status != Tx.DISPLACED]
    if len(polled) < MAX_CANDIDATES:
        return
    unseen = [tx for tx in polled if tx.status == Tx.SUBMITTED and tx.block_number is None and not tx.awaits]
    if not unseen:
        raise TooManyCandidates
    oldest = min(unseen, key=attrgetter("submitted_at"))
    oldest.status = Tx.DISPLACED
    displaced = SweepEvent.objects.filter(sweep_id=stored.id, kind=EventKind.DISPLACED, tx_hash=oldest.tx_hash)
    if not displaced.exists():
        transitions.note(stored, EventKind.DISPLACED, tx_hash=oldest.tx_hash)


def _refuse_refused(
    registry: Networks, settled: Settled, tx_hashes: Sequence[str], requester: Requester, deadline: float
) -> None:
    """Raise why, if all of the reported transactions are refused."""
    candidates = {tx.tx_hash: tx for tx in settled.stored.candidates}
    txs = [candidates[tx_hash] for tx_hash in tx_hashes if tx_hash in candidates]
    refused = [tx for tx in txs if tx.status in (Tx.REVERTED, Tx.DROPPED, Tx.REJECTED)]
    replaced = [tx for tx in txs if tx.status == Tx.REPLACED]
    if len(refused) + len(replaced) == len(txs) and replaced:
        accepted = next((tx for tx in candidates.values() if tx.status == Tx.ACCEPTED), None)
        if accepted is not None:
            raise already_confirmed(accepted.tx_hash)
    if len(refused) == len(txs):
        # The one that reverted is the sweep; others of a batch can be approvals.
        decisive = next((tx for tx in refused if tx.status == Tx.REVERTED), refused[-1])
        raise _refusal(registry, settled, decisive, requester, deadline)


def _refusal(
    registry: Networks, settled: Settled, tx: SweepTransaction, requester: Requester, deadline: float
) -> SweepApiError:
    if tx.status == Tx.REVERTED:
        return TransactionReverted(details=_explained(registry, tx, requester, deadline))
    if tx.status == Tx.DROPPED:
        return SweepFailed()
    # Another check may have decided about the hash; then the reason is stored with the transaction.
    mismatches = settled.mismatches(tx.tx_hash) or [Mismatch("event", "differs", tx.reason)]
    return EventMismatch(details=_details(mismatches))


def _explained(registry: Networks, tx: SweepTransaction, requester: Requester, deadline: float) -> list[FieldError]:
    """Return why the transaction reverted, and store the explanation; empty if time or place to find out is missing."""
    if tx.reason != REVERTED:
        return [FieldError("txHash", "reverted", tx.reason)]
    rail, left = RAILS[tx.sweep.rail], deadline - time.monotonic()
    try:
        with outside_place(requester):
            reasons = rail.explain_revert(registry, tx, timeout_seconds=left)
    except TooManyAtOnce:
        return []
    if reasons:
        _explain(tx, " ".join(reason.message for reason in reasons))
    return _details(reasons)


def _explain(tx: SweepTransaction, reason: str) -> None:
    """Store why a transaction reverted, unless it was decided otherwise meanwhile."""
    with transaction.atomic():
        stored = reading.lock_one(tx.sweep_id)
        for one in stored.candidates:
            if one.pk == tx.pk and one.status == Tx.REVERTED:
                one.reason = reason
        write([stored])


def _details(mismatches: Sequence[Mismatch]) -> list[FieldError]:
    return [FieldError(mismatch.field, mismatch.code, mismatch.message) for mismatch in mismatches]
