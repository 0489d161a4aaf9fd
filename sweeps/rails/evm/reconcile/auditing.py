"""Compares the books of a chain with the events of our contracts, and repairs what operators ask to have repaired.

Comparing changes nothing. Repairing has two steps, each safe to repeat: what the events say of sweeps that are known is
settled by the caller, as the reconciliation does, also for blocks that it has read; and unknown executions are adopted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import structlog
from django.db.models import Count

from partners.models import Partner
from sweepapi.evm.logs import log_scan
from sweepapi.evm.logs.log_scan import ScannedSpan
from sweepapi.networks import Networks
from sweeps.books.adoption import NotAdoptableError
from sweeps.books.comparison import Adoption, Blocks, BooksDifference, Report
from sweeps.books.entries import stray_entries
from sweeps.models import Execution
from sweeps.protocol.rail import FinalSpan
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.reconcile import books, recorded, rereading, unmatched
from sweeps.rails.evm.reconcile.adopting import Orphan, adopt
from sweeps.rails.evm.reconcile.comparing import UNKNOWN, Unmatched, compare
from sweeps.rails.evm.reconcile.rereading import ContractPlace

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class EvmAuditor:
    """Compares and repairs the books of all versions of our contract."""

    rails: Mapping[str, EvmRail]  # by their names

    final_blocks = staticmethod(rereading.final_blocks)
    last_day = staticmethod(rereading.last_day)

    def compare(self, registry: Networks, network: str, blocks: Blocks) -> Report:
        found: list[BooksDifference] = []
        if blocks.first > blocks.last:
            return Report(network, blocks, 0, found)
        since = rereading.timestamp_of(registry.pool(network), blocks.first)
        events = 0
        for place in rereading.places_of(registry.chain(network), self.rails):
            cancelled: set[str] = set()
            first = blocks.first
            for _, span in rereading.spans(registry, place, blocks):
                events += len(span.logs)
                shown = [place.rail.emitted(mined.log) for mined in span.logs]
                cancelled.update(one.execution_id for one in shown if one is not None and one.user is None)
                found.extend(books.differences(place, Blocks(first, span.end.number), span))
                first = span.end.number + 1
            found.extend(recorded.unused_cancelled(registry, place, since, cancelled))
        found.extend(stray_entries(network, since))
        return Report(network, blocks, events, found)

    def find_executed(self, registry: Networks, network: str, blocks: Blocks) -> Iterator[FinalSpan]:
        for place in rereading.places_of(registry.chain(network), self.rails):
            for scan, span in rereading.spans(registry, place, blocks):
                found = compare(registry, place, scan, span)
                yield FinalSpan(found.readings, blocks_left=blocks.last - span.end.number)
                unmatched.store(network, found.unmatched)
                if found.unproven:
                    log.warning("receipts_missing", network=network, tx_hashes=sorted(found.unproven))

    def adopt(
        self, registry: Networks, network: str, blocks: Blocks, *, named: Mapping[str, Partner], by: str
    ) -> Iterator[Adoption]:
        for place in rereading.places_of(registry.chain(network), self.rails):
            for _, span in rereading.spans(registry, place, blocks):
                yield from _adopt(registry, place, span, named, by)

    def unexplained_events(self) -> Mapping[str, int]:
        """Return how many unmatched events operators have not explained, by network."""
        found = UnmatchedEvent.objects.filter(status=UnmatchedEvent.Status.OPEN).order_by()
        return dict(found.values_list("network").annotate(events=Count("*")))


def _adopt(
    registry: Networks, place: ContractPlace, span: ScannedSpan, named: Mapping[str, Partner], by: str
) -> Iterator[Adoption]:
    found = [(mined, emitted) for mined in span.logs if (emitted := place.rail.emitted(mined.log)) is not None]
    executed = [(mined, emitted) for mined, emitted in found if emitted.outcome is not None]
    ids = [emitted.execution_id for _, emitted in executed]
    ours = Execution.objects.filter(network=place.network, venue=place.contract, execution_id__in=ids)
    known = set(ours.values_list("execution_id", flat=True))
    unknown = [Unmatched(mined, emitted, UNKNOWN) for mined, emitted in executed if emitted.execution_id not in known]
    unmatched.store(place.network, unknown)
    hashes = {one.mined.tx_hash for one in unknown}
    pool = registry.pool(place.network)
    receipts = log_scan.receipts(pool, place.stream, [mined for mined in span.logs if mined.tx_hash in hashes])
    for one in unknown:
        if one.mined.tx_hash in receipts:
            orphan = Orphan(place, one.mined, one.emitted, receipts[one.mined.tx_hash])
            yield from _adopted(registry, orphan, named.get(one.mined.tx_hash), by)
        else:
            yield _refused(one.mined.tx_hash, one.emitted.execution_id, "No provider shows its receipt.")


def _adopted(registry: Networks, orphan: Orphan, named: Partner | None, by: str) -> Iterator[Adoption]:
    tx_hash, execution_id = orphan.mined.tx_hash, orphan.emitted.execution_id
    try:
        sweep = adopt(registry, orphan, named=named, by=by)
    except NotAdoptableError as refusal:
        yield _refused(tx_hash, execution_id, str(refusal))
    else:
        if sweep is not None:
            log.warning("sweep_adopted", sweep_id=str(sweep.id), tx_hash=tx_hash, by=by)
            yield Adoption(tx_hash, execution_id, sweep.id)


def _refused(tx_hash: str, execution_id: str, why: str) -> Adoption:
    return Adoption(tx_hash, execution_id, None, why)
