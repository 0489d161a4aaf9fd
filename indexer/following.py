"""Follows the events of our contracts on each chain, so that executions which were not reported are settled, too."""

import structlog

from indexer.locking import only_one
from indexer.reconciliation import settle_all
from sweepapi import networks
from sweeps.rails.registry import LOG_FOLLOWER

log = structlog.get_logger(__name__)


def follow() -> None:
    """Read and settle the newest events of each enabled chain on which no other run does that now.

    An error on one chain keeps no other from its turn; then all are raised as one group.
    """
    registry, errors = networks.current(), []
    for chain in registry.enabled:
        with only_one(f"following {chain.network}") as is_mine:
            if not is_mine:
                continue
            try:
                settle_all(LOG_FOLLOWER.follow(registry, chain.network))
            except Exception as error:
                log.exception("following_failed", network=chain.network)
                errors.append(error)
    if errors:
        raise ExceptionGroup("not every chain could be followed", errors)
