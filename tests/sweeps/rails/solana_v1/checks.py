"""Has the worker check a sweep on the local cluster, and says what it then knows."""

from datetime import timedelta

from django.utils import timezone

from indexer import checks
from sweeps.models import Sweep
from tests.solana_sweeps import LocalSweep


def the_worker_checks(sweep: LocalSweep) -> tuple[str, bool, list[str]]:
    """Have the worker check the sweep now; return its status, whether it is open, and its flags."""
    row = look_at(sweep.row)
    return row.status, row.is_open, row.flags


def look_at(row: Sweep) -> Sweep:
    """Have the worker check the sweep now; return it as it is then."""
    Sweep.objects.filter(id=row.id).update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    row.refresh_from_db()
    return row


def candidates(sweep: LocalSweep) -> list[tuple[str, str]]:
    """Return hash and status of each candidate, the oldest first."""
    return list(sweep.row.transactions.values_list("tx_hash", "status"))


def reason(sweep: LocalSweep) -> str:
    """Return why the last candidate was not accepted."""
    return sweep.row.transactions.order_by("id").reverse()[0].reason
