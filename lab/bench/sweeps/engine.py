"""How the benchmarks call the worker, in one place, because the rest of them is about figures."""

from django.utils import timezone

from indexer import blocks, checks, claims, tasks
from sweeps.models import Sweep


def check_due() -> None:
    """Check everything that is due now and that no other process checks, as the worker does."""
    due = Sweep.objects.filter(is_open=True, next_check_at__lte=timezone.now(), lease_until=None)
    while due.exists():
        checks.check_due()


def follow_blocks() -> None:
    """Check every block that sweeps await and that is due."""
    blocks.check_due()


def claim() -> int:
    """Lease one batch of what is due; returns how many sweeps it has."""
    claimed = claims.claim_due()
    return 0 if claimed is None else len(claimed.sweeps)


def expiry_pass() -> None:
    """Do what beat has the worker do every few seconds, which has messages sent for what is due."""
    tasks.check_due()
