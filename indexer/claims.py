"""Which sweeps are due, and which check looks at them.

A check holds a lease on its row. The lease saves calls to the chain; what makes two checks at once harmless is the lock
that ``settle`` takes. A lease that its holder did not give back runs out.
"""

from collections.abc import Collection, Mapping
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
    """Lease a sweep if it is due now and not leased already; None otherwise."""
    now = timezone.now()
    return _lease(_due(now).filter(id=sweep_id, network__in=networks.current().known), now)


def claim_due(*, clocks: Mapping[str, datetime], exclude: Collection[UUID]) -> Claim | None:
    """Lease the sweeps that have been due longest, except those that this run had before; None if there are none.

    ``clocks`` holds the time of each network's safe block. A sweep that waits for its deadline is due as soon as that
    time is past it: the chain's clock decides, not the server's.
    """
    now = timezone.now()
    overdue = Q(next_check_at__lte=now - MESSAGE_GRACE) | Q(~Q(status=SweepStatus.PENDING), next_check_at__lte=now)
    run_out = Q(pk__in=[])
    for network, clock in clocks.items():
        run_out |= Q(
            network=network,
            deadline__lt=clock,
            next_check_at__gt=now + timedelta(seconds=settings.MAX_CHECK_DELAY_SECONDS),
        )
    rows = Sweep.objects.filter(overdue | run_out, _unleased(now), is_open=True, network__in=networks.current().known)
    return _lease(rows.exclude(id__in=exclude).order_by("next_check_at"), now)


def open_networks() -> list[tuple[str, str]]:
    """Return rail and network of every open sweep; networks that the chains file no longer names are logged instead."""
    in_use = set(Sweep.objects.filter(is_open=True).order_by().values_list("rail", "network").distinct())
    known = networks.current().known
    unknown = {network for _, network in in_use if network not in known}
    if unknown:
        log.error("open_sweeps_on_unknown_networks", networks=sorted(unknown))
    return sorted((rail, network) for rail, network in in_use if network in known)


def _due(now: datetime) -> QuerySet[Sweep]:
    return Sweep.objects.filter(_unleased(now), is_open=True, next_check_at__lte=now)


def _unleased(now: datetime) -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=now)


def _lease(rows: QuerySet[Sweep], now: datetime) -> Claim | None:
    lease = uuid4()
    with transaction.atomic():
        ids = [row.id for row in rows.select_for_update(skip_locked=True, of=("self",))[:BATCH_ROWS]]
        Sweep.objects.filter(id__in=ids).update(lease_token=lease, lease_until=now + LEASE)
    return Claim(lease, list(Sweep.objects.filter(id__in=ids))) if ids else None
