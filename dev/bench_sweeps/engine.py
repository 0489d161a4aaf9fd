"""How the benchmarks call the worker, in one place, because the rest of them is about figures."""

from itertools import groupby
from operator import attrgetter

from django.utils import timezone

from indexer import checks, claims, tasks, watching
from sweeps.models import Sweep
from sweeps.rails.registry import RAILS
from sweeps.story.settle import settle


def check_due() -> None:
    """Check everything that is due now and that no other process checks, as the worker does."""
    due = Sweep.objects.filter(is_open=True, next_check_at__lte=timezone.now(), lease_until=None)
    while due.exists():
        checks.check_due()


def check_due_one_by_one() -> None:
    """Check everything that is due, but settle each sweep alone, in a transaction of its own."""
    place = attrgetter("rail", "network")
    while (claim := claims.claim_due()) is not None:
        for (rail, network), group in groupby(sorted(claim.sweeps, key=place), key=place):
            for seen in RAILS[rail].see(network, RAILS[rail].watch(list(group))):
                for sweep_id, one in seen:
                    settle(sweep_id=sweep_id, seen=one, lease=claim.lease)


def watch_blocks() -> None:
    """Look at every block whose sweeps rest and that is due."""
    watching.watch()


def claim() -> int:
    """Lease one batch of what is due; returns how many sweeps it has."""
    claimed = claims.claim_due()
    return 0 if claimed is None else len(claimed.sweeps)


def expiry_pass() -> None:
    """Do what beat has the worker do every few seconds, which has messages sent for what is due."""
    tasks.check_due()
