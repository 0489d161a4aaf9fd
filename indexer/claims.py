"""Which sweeps are due, and whose turn it is to look at them.

A check holds a lease on its row. The lease saves calls to the chain; what makes two checks at once harmless is the lock
that ``settle`` takes. A lease that its holder did not give back runs out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from sweepapi import chains
from sweeps.models import Sweep, SweepStatus

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
# The message of a row that awaits a receipt goes first; beat takes it if the message does not come.
MESSAGE_GRACE = timedelta(seconds=2)
BATCH_ROWS = 100


@dataclass(frozen=True)
class Claim:
    """Sweeps under one lease."""

    lease: UUID
    sweeps: list[Sweep]


def claim_one(sweep_id: UUID) -> Claim | None:
    """Lease a sweep if it is due now and nobody else holds it; None otherwise."""
    now = timezone.now()
    return _lease(_free(now).filter(id=sweep_id, next_check_at__lte=now))


def claim_due(*, safe_timestamps: Mapping[int, int]) -> Iterator[Claim]:
    """Lease all that is due, batch by batch; check each batch before asking for the next.

    A run takes no row twice: what was leased, or got another time, since the run began is left to the next run.
    ``safe_timestamps`` holds the time of each chain's safe block by chain id (seconds since 1970). Where it is further
    ahead of the server's clock than the longest delay, sweeps that wait for a deadline which it has passed are due too.
    """
    began = timezone.now()
    horizon = began + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    for chain_id, timestamp in safe_timestamps.items():
        if timestamp > horizon.timestamp():
            yield from _claim_run_out(chain_id, timestamp, began, horizon)
    while (claim := _lease(_overdue(began).order_by("next_check_at"))) is not None:
        yield claim


def _claim_run_out(chain_id: int, safe_timestamp: int, began: datetime, horizon: datetime) -> Iterator[Claim]:
    rows = _free(began).filter(
        chain_id=chain_id, next_check_at__gt=horizon, authorization__deadline_seconds__lt=safe_timestamp
    )
    last = UUID(int=0)
    while (claim := _lease(rows.filter(id__gt=last).order_by("id"))) is not None:
        yield claim
        last = max(sweep.id for sweep in claim.sweeps)  # a look that learned nothing leaves the row as it was


def open_chain_ids() -> list[int]:
    """Return the chains on which any sweep is open; those that the chains file no longer names are logged instead."""
    in_use = set(Sweep.objects.filter(is_open=True).order_by().values_list("chain_id", flat=True).distinct())
    known = {chain.chain_id for chain in chains.known().values()}
    if in_use - known:
        log.error("open_sweeps_on_unknown_chains", chain_ids=sorted(in_use - known))
    return sorted(in_use & known)


def _overdue(now: datetime) -> QuerySet[Sweep]:
    """Return what is due and will be looked at by no message."""
    known = [chain.chain_id for chain in chains.known().values()]
    no_message = ~Q(status=SweepStatus.PENDING) | Q(next_check_at__lte=now - MESSAGE_GRACE)
    return _free(now).filter(no_message, next_check_at__lte=now, chain_id__in=known)


def _free(now: datetime) -> QuerySet[Sweep]:
    unleased = Q(lease_until=None) | Q(lease_until__lt=now)
    return Sweep.objects.filter(unleased, is_open=True)


def _lease(rows: QuerySet[Sweep]) -> Claim | None:
    """Lease the first rows of these that nobody is about to lease; None if there are none."""
    lease = uuid4()
    with transaction.atomic():
        ids = [row.id for row in rows.select_for_update(skip_locked=True, of=("self",))[:BATCH_ROWS]]
        Sweep.objects.filter(id__in=ids).update(lease_token=lease, lease_until=timezone.now() + LEASE)
    if not ids:
        return None
    claimed = Sweep.objects.select_related("authorization").prefetch_related("transactions").filter(id__in=ids)
    return Claim(lease, list(claimed))
