"""Withdraws a sweep: voids it before a transaction is known for it, cancels it on chain, or both.

Voiding alone does not stop a user who has signed; a cancellation on chain does. Here it is only requested: the worker
signs and sends it. Operators withdraw any sweep, partners their own.
"""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from partners.authentication import Requester
from partners.models import Partner
from sweepapi.errors import RateLimited, SweepNotCancellable, SweepNotFound, SweepNotVoidable
from sweeps.models import Cause, EventKind, Sweep, SweepStatus, SweepTransaction
from sweeps.rails.registry import RAILS, V2_RAILS
from sweeps.store import transitions
from sweeps.store.reading import lock_one
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write
from sweeps.story.decided import refuse_decided
from sweeps.story.reach import visible_to

DAY = timedelta(days=1)
BY_PARTNER = "Cancelled by the partner."

AnswerT = TypeVar("AnswerT")


def cancel_sweep(
    *, requester: Requester, sweep_id: UUID, on_chain: bool, answered: Callable[[Sweep], AnswerT]
) -> AnswerT:
    """Void a partner's sweep, and cancel it on chain if requested; one that is void already stays as it is.

    Returns what ``answered`` makes of the sweep in the same transaction.

    Raises ``SweepNotFound`` (for a sweep that the key does not reach, too), the error of a sweep that is decided,
    ``SweepNotVoidable``, ``SweepNotCancellable``, and ``RateLimited`` after too many cancellations on chain.
    """
    requested_by = f"API key {requester}"
    with transaction.atomic():
        if not Sweep.objects.filter(visible_to(requester, rails=V2_RAILS), id=sweep_id).exists():
            raise SweepNotFound
        stored = lock_one(sweep_id)
        sweep = stored.sweep
        if sweep.status != SweepStatus.VOID:
            refuse_decided(sweep)
            _void(stored, reason=BY_PARTNER, requested_by=requested_by)
        if on_chain and sweep.is_open and sweep.cancellation_requested_at is None:
            _require_daily_limit(sweep.partner)
            _request_cancellation(stored, reason=BY_PARTNER, requested_by=requested_by)
        write([stored])
        return answered(Sweep.objects.get(id=sweep_id))


def void(*, sweep_id: UUID, reason: str, requested_by: str, cancels: bool = False) -> Sweep:
    """Void a pending sweep and return it; it stays open until the chain proves that it can't be executed any more.

    With ``cancels``, it is also cancelled on chain.

    Raises ``SweepNotVoidable``, ``SweepNotCancellable``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        stored = lock_one(sweep_id)
        _void(stored, reason=reason, requested_by=requested_by)
        if cancels:
            _request_cancellation(stored, reason=reason, requested_by=requested_by)
        write([stored])
        return stored.sweep


def cancel_on_chain(*, sweep_id: UUID, reason: str, requested_by: str) -> bool:
    """Request that an open sweep is cancelled on chain; only the chain moves its status.

    It does not matter what was submitted for the sweep: the transaction that is mined first wins. Returns False if
    that was requested before; the first request is kept.

    Raises ``SweepNotCancellable``, and ``ValueError`` for an empty reason.
    """
    reason = _required(reason)
    with transaction.atomic():
        stored = lock_one(sweep_id)
        if stored.sweep.status == SweepStatus.COMPLETED or not stored.sweep.is_open:
            raise SweepNotCancellable
        is_first = _request_cancellation(stored, reason=reason, requested_by=requested_by)
        write([stored])
        return is_first


def _required(reason: str) -> str:
    if not reason.strip():
        raise ValueError("A reason is required.")
    return reason.strip()


def _void(stored: StoredSweep, *, reason: str, requested_by: str) -> None:
    is_submitted = any(tx.status == SweepTransaction.Status.SUBMITTED for tx in stored.candidates)
    if stored.sweep.status != SweepStatus.PENDING or is_submitted:
        raise SweepNotVoidable
    stored.sweep.void_reason = reason
    transitions.move(stored, SweepStatus.VOID, Cause.VOIDED, reason=reason, requested_by=requested_by)


def _require_daily_limit(partner: Partner) -> None:
    """Raise ``RateLimited`` if too many of the partner's sweeps were cancelled on chain, for which we pay the gas.

    The partner's row is locked after that of the sweep, as where fees are booked.
    """
    Partner.objects.select_for_update(no_key=True).get(pk=partner.pk)
    now, limit = timezone.now(), settings.ONCHAIN_CANCELLATIONS_PER_DAY
    counted = Sweep.objects.filter(partner=partner, cancellation_requested_at__gt=now - DAY)
    times = counted.order_by("-cancellation_requested_at").values_list("cancellation_requested_at", flat=True)
    newest = [at for at in times[:limit] if at is not None]
    if len(newest) == limit:
        message = f"At most {limit} sweeps can be cancelled on chain within 24 hours; this one was not cancelled."
        free_at = min(newest, default=now) + DAY
        raise RateLimited(message, retry_after_seconds=math.ceil((free_at - now).total_seconds()))


def _request_cancellation(stored: StoredSweep, *, reason: str, requested_by: str) -> bool:
    sweep = stored.sweep
    is_first = sweep.cancellation_requested_at is None
    if is_first:
        sweep.cancellation_requested_at = stored.now
        transitions.note(stored, EventKind.CANCELLATION_REQUESTED, reason=reason, requested_by=requested_by)
        RAILS[sweep.rail].withdraw(stored)
    sweep.next_check_at = min(sweep.next_check_at or stored.now, stored.now)  # ``settle`` schedules the next ones
    return is_first
