"""Says when the sweeps of a batch that wait for a receipt are to be checked again, so that one message serves many."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from sweeps.models import Sweep, SweepStatus, SweepTransaction


@dataclass(frozen=True)
class Appointment:
    """Sweeps that are all due after this delay."""

    delay: timedelta
    sweep_ids: list[UUID]


def appointments(sweep_ids: Collection[UUID]) -> list[Appointment]:
    """Return one for each doubling of the delay, without the sweeps that wait for nothing or are leased to another.

    So each waits at most twice as long as its row says, and a batch leads to a few messages.
    """
    submitted = SweepTransaction.objects.filter(sweep=OuterRef("id"), status=SweepTransaction.Status.SUBMITTED)
    rows = Sweep.objects.filter(Exists(submitted), id__in=sweep_ids, status=SweepStatus.PENDING, lease_token=None)
    groups = defaultdict(list)
    for sweep_id, delay in rows.order_by().values_list("id", F("next_check_at") - Now()):
        groups[int(delay.total_seconds()).bit_length()].append((delay, sweep_id))
    return [Appointment(max(group)[0], [sweep_id for _, sweep_id in group]) for group in groups.values()]
