"""Compares the books with what final blocks show: by beat once a day, and whenever operators ask, who can repair."""

from collections.abc import Iterator, Mapping

import structlog

from indexer.locking import only_one
from indexer.reconciliation import settle_all
from partners.models import Partner
from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.books import comparison
from sweeps.books.comparison import Adoption, Blocks, Report
from sweeps.rails.registry import auditor_of

log = structlog.get_logger(__name__)


def compare_last_day() -> None:
    """Compare what each enabled network did since the last time, if that is a day ago; a difference is an alert."""
    registry = networks.current()
    clusters = [cluster.network for cluster in registry.enabled_clusters]
    for network in [*(chain.network for chain in registry.enabled), *clusters]:
        with only_one(f"comparing {network}") as is_mine:
            if is_mine and comparison.is_due(network):
                _compare_last_day(registry, network)


def _compare_last_day(registry: Networks, network: str) -> None:
    auditor = auditor_of(network)
    try:
        blocks = auditor.last_day(registry, network, compared=comparison.compared_up_to(network))
        if blocks.first > blocks.last:
            log.warning("comparison_failed", network=network, error="nothing of the last day is settled yet")
            return
        report = auditor.compare(registry, network, blocks)
    except ChainUnavailableError as error:
        log.warning("comparison_failed", network=network, error=str(error))
    else:
        comparison.keep(report)


def compare(registry: Networks, network: str, *, first: int | None, last: int | None) -> Report:
    """Compare the final blocks of a range, by default all of them; raises ``ChainUnavailableError``."""
    auditor = auditor_of(network)
    return auditor.compare(registry, network, auditor.final_blocks(registry, network, first=first, last=last))


def repair(
    registry: Networks, network: str, blocks: Blocks, *, named: Mapping[str, Partner], by: str
) -> Iterator[Adoption]:
    """Settle what these blocks show of known sweeps, and adopt the executions of unknown ones; safe to repeat.

    ``named`` has the partners that operators named for transactions whose events name none. Raises
    ``ChainUnavailableError``; what can't be settled is raised as one group once everything else is repaired.
    """
    auditor, errors = auditor_of(network), []
    for span in auditor.find_executed(registry, network, blocks):
        try:
            settle_all(span.readings)
        except ExceptionGroup as error:
            errors.append(error)
    yield from auditor.adopt(registry, network, blocks, named=named, by=by)
    if errors:
        raise ExceptionGroup("not everything could be settled", errors)
