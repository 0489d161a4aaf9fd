"""Confirming a sweep: take the hash the partner reports, look at the chain once, settle, and say what is known.

The candidate is stored before the chain is asked, so nothing is lost if nobody answers; the row's lock, not a lease,
makes any number of confirms at once come out the same.
"""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from partners.models import Partner
from sweepapi import chains
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
from sweepapi.evm.errors import ChainUnavailableError
from sweepapi.evm.sightings import Watched, look
from sweeps import schedule
from sweeps.matching import Mismatch
from sweeps.models import NOBODY_ANSWERED, Sweep, SweepStatus, SweepTransaction
from sweeps.nudge import nudge
from sweeps.settle import Settled, settle, watched

MAX_CANDIDATES = 10

Tx = SweepTransaction.Status


def confirm_sweep(*, partner: Partner, sweep_id: UUID, tx_hash: str) -> Sweep:
    """Record a hash (lower case) for a sweep and return the sweep as far as the chain has settled it.

    Its status is completed or pending then. Raises ``SweepNotFound`` for another partner's sweep too, ``SweepExpired``,
    ``SweepVoid``, ``SweepFailed``, ``SweepAlreadyConfirmed`` and ``TooManyCandidates`` without asking the chain, and
    ``EventMismatch`` or ``TransactionReverted`` after having stored what the chain said.
    """
    sweep, wanted = _admit(partner=partner, sweep_id=sweep_id, tx_hash=tx_hash)
    if wanted is None:
        return sweep
    chain = chains.by_id(sweep.chain_id)
    try:
        seen = look(
            chain=chain,
            pool=chains.pool(chain.chain_id),
            watched=[wanted],
            timeout_seconds=settings.CONFIRM_TIMEOUT_SECONDS,
        )
    except ChainUnavailableError:
        sweep.last_error = NOBODY_ANSWERED
        sweep.save(update_fields=["last_error"])
        _nudge_for(sweep)
        return sweep
    settled = settle(sweep_id=sweep.id, sighting=seen[sweep.id])
    return _answer(settled, tx_hash)


def _admit(*, partner: Partner, sweep_id: UUID, tx_hash: str) -> tuple[Sweep, Watched | None]:
    """Store the candidate, or refuse it for what is already proven; None means that nothing is left to look up."""
    with transaction.atomic():
        sweep = (
            Sweep.objects.select_for_update(of=("self",))
            .select_related("authorization")
            .filter(id=sweep_id, partner=partner)
            .first()
        )
        if sweep is None:
            raise SweepNotFound
        _refuse_closed(sweep, tx_hash)
        if sweep.status == SweepStatus.COMPLETED:
            return sweep, None
        _record(sweep, tx_hash)
        return sweep, watched(sweep)


def _refuse_closed(sweep: Sweep, tx_hash: str) -> None:
    if sweep.status == SweepStatus.EXPIRED:
        raise SweepExpired
    if sweep.status == SweepStatus.VOID:
        raise SweepVoid
    candidates = {tx.tx_hash: tx for tx in sweep.transactions.all()}
    known = candidates.get(tx_hash)
    if sweep.status == SweepStatus.COMPLETED and (known is None or known.status != Tx.ACCEPTED):
        raise _already_confirmed(next(tx for tx in candidates.values() if tx.status == Tx.ACCEPTED))
    if sweep.status == SweepStatus.FAILED:
        if known is not None and known.status == Tx.REVERTED:
            raise TransactionReverted
        if not sweep.is_open:
            raise SweepFailed
    if known is None and len(candidates) >= MAX_CANDIDATES:
        raise TooManyCandidates


def _already_confirmed(accepted: SweepTransaction) -> SweepAlreadyConfirmed:
    return SweepAlreadyConfirmed(details=[FieldError("txHash", "accepted_hash", accepted.tx_hash)])


def _record(sweep: Sweep, tx_hash: str) -> None:
    tx, _ = SweepTransaction.objects.get_or_create(sweep=sweep, tx_hash=tx_hash)
    if tx.status == Tx.REJECTED:  # reported again: another look decides again
        tx.status = Tx.SUBMITTED
        tx.save(update_fields=["status"])
    sweep.status = SweepStatus.PENDING
    sweep.next_check_at = schedule.first_check(timezone.now())
    sweep.save(update_fields=["status", "next_check_at"])


def _answer(settled: Settled, tx_hash: str) -> Sweep:
    if settled.sweep.status == SweepStatus.VOID:  # the worker found the cancellation while this looked for the receipt
        raise SweepVoid
    tx = settled.sweep.transactions.get(tx_hash=tx_hash)
    if tx.status == Tx.REPLACED:
        raise _already_confirmed(settled.sweep.transactions.get(status=Tx.ACCEPTED))
    if tx.status == Tx.REVERTED:
        raise TransactionReverted
    if tx.status == Tx.DROPPED:
        raise SweepFailed
    if tx.status == Tx.REJECTED:
        # Another check may have judged the hash; then what it found stands with the transaction.
        mismatches = settled.mismatches.get(tx_hash) or [Mismatch("event", "differs", tx.reason)]
        raise EventMismatch(details=[FieldError(m.field, m.code, m.message) for m in mismatches])
    if settled.sweep.status == SweepStatus.PENDING:
        _nudge_for(settled.sweep)
    return settled.sweep


def _nudge_for(sweep: Sweep) -> None:
    if sweep.next_check_at is not None:
        nudge(sweep.id, at=sweep.next_check_at)
