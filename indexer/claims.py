"""Selects the sweeps that are due, and leases each to one check.

The lease only saves calls to the chain: concurrent checks are harmless, because ``settle`` takes the row's lock. A
lease that its holder did not release expires.
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

from sweepapi import networks
from sweeps.models import Sweep, SweepStatus
from sweeps.rails.registry import RAILS

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
# A row that awaits a receipt is left to its own message; beat takes it if the message does not come.
MESSAGE_GRACE = timedelta(seconds=2)
BATCH_ROWS = 250  # as many as rails look up in one request


@dataclass(frozen=True)
class Claim:
    """Sweeps under one lease."""

    lease: UUID
    sweeps: list[Sweep]


def claim_one(sweep_id: UUID) -> Claim | None:
    """Lease a sweep if it is due now and not leased already; None otherwise."""
    now = timezone.now()
    return _lease(_free(now).filter(id=sweep_id, next_check_at__lte=now))


def claim_due(*, clocks: Mapping[str, datetime]) -> Iterator[Claim]:
    """Lease everything that is due, batch by batch; check each batch before requesting the next.

    A run takes no row twice: rows that were leased or rescheduled since it began are left to the next run.
    ``clocks`` has the time of each network's safe block. Where it is further ahead of the server's clock than the
    longest delay, sweeps that wait for a deadline which it has passed are due too.
    """
    began = timezone.now()
    horizon = began + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS)
    for network, clock in clocks.items():
        if clock > horizon:
            yield from _claim_run_out(network, clock, began, horizon)
    while (claim := _lease(_overdue(began).order_by("next_check_at"))) is not None:
        yield claim


def _claim_run_out(network: str, clock: datetime, began: datetime, horizon: datetime) -> Iterator[Claim]:
    rows = _free(began).filter(network=network, next_check_at__gt=horizon, deadline__lt=clock)
    last = UUID(int=0)
    while (claim := _lease(rows.filter(id__gt=last).order_by("id"))) is not None:
        yield claim
        last = max(sweep.id for sweep in claim.sweeps)  # a look that learned nothing leaves the row as it was


def open_networks() -> list[tuple[str, str]]:
    """Return rail and network of every open sweep; those that this release or its chains file lacks are logged."""
    in_use = set(Sweep.objects.filter(is_open=True).order_by().values_list("rail", "network").distinct())
    known = {(rail, network) for rail, network in in_use if rail in RAILS and network in networks.current().known}
    unknown = sorted(f"{rail} on {network}" for rail, network in in_use - known)
    if unknown:
        log.error("open_sweeps_on_unknown_networks", unknown=unknown)
    return sorted(known)


def _overdue(now: datetime) -> QuerySet[Sweep]:
    """Return the due rows whose messages did not come, or that have none."""
    no_message = ~Q(status=SweepStatus.PENDING) | Q(next_check_at__lte=now - MESSAGE_GRACE)
    return _free(now).filter(no_message, next_check_at__lte=now)


def _free(now: datetime) -> QuerySet[Sweep]:
    unleased = Q(lease_until=None) | Q(lease_until__lt=now)
    return Sweep.objects.filter(unleased, is_open=True, rail__in=RAILS.keys(), network__in=networks.current().known)


def _lease(rows: QuerySet[Sweep]) -> Claim | None:
    """Lease the first of these rows that no other transaction has locked; None if there are none."""
    lease = uuid4()
    with transaction.atomic():
        ids = [row.id for row in rows.select_for_update(skip_locked=True, of=("self",))[:BATCH_ROWS]]
        Sweep.objects.filter(id__in=ids).update(lease_token=lease, lease_until=timezone.now() + LEASE)
    return Claim(lease, list(Sweep.objects.filter(id__in=ids).order_by("next_check_at"))) if ids else None
