"""Settles executions that final blocks show and the service does not know, above all those of closed sweeps."""

from contextlib import ExitStack

import structlog

from sweepapi import networks
from sweeps.rails.rail import Rail
from sweeps.rails.registry import RAILS
from sweeps.settle import settle

log = structlog.get_logger(__name__)


def reconcile() -> None:
    """Settle what each rail finds on each enabled network since the last run."""
    with ExitStack() as stack:  # the others have their turn before an error is raised
        for chain in networks.current().enabled:
            for rail in RAILS.values():
                stack.callback(_reconcile, rail, chain.network)


def _reconcile(rail: Rail, network: str) -> None:
    for sweep_id, seen in rail.find_executed(network):
        log.info("execution_found", sweep_id=str(sweep_id), network=network)
        settle(sweep_id=sweep_id, seen=seen)
