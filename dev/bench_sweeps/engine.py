"""How the benchmarks call the worker, in one place, because the rest of them is about figures."""

from itertools import groupby
from operator import attrgetter

from indexer import checks, claims, tasks
from sweeps.rails.registry import RAILS
from sweeps.settle import settle


def check_due() -> None:
    """Check everything that is due, as the worker does."""
    while checks.check_due():
        pass


def check_due_one_by_one() -> None:
    """Check everything that is due, but settle each sweep alone, in a transaction of its own."""
    place = attrgetter("rail", "network")
    while (claim := claims.claim_due()) is not None:
        for (rail, network), group in groupby(sorted(claim.sweeps, key=place), key=place):
            for sweep_id, seen in RAILS[rail].see(network, RAILS[rail].watch(list(group))):
                settle(sweep_id=sweep_id, seen=seen, lease=claim.lease)


def claim() -> int:
    """Lease one batch of what is due; returns how many sweeps it has."""
    claimed = claims.claim_due()
    return 0 if claimed is None else len(claimed.sweeps)


def expiry_pass() -> None:
    """Do what beat has the worker do every few seconds, which has messages sent for what is due."""
    tasks.check_due()
