"""Finds executions on final blocks that the service does not know: of sweeps that it closed, or that were not reported.

Every event of our contracts is compared with the executions that were offered. As elsewhere, the receipt is judged, and
not the event: here it must show exactly the logs that the providers agreed about.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Min

from sweepapi import networks
from sweepapi.evm import log_scan
from sweepapi.evm.log_scan import Scan, ScannedSpan, Stream
from sweepapi.evm.log_search import Event, Finding, Hit
from sweepapi.evm.responses import MinedLog, Receipt
from sweepapi.evm.sightings import Sighting
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.models import Execution
from sweeps.rails.evm.following import Seen
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.watching import SEARCH_MARGIN_BLOCKS
from sweeps.rails.rail import FinalSpan

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _UnbookedEvent:
    """An event about an execution that is not known to be executed."""

    sweep_id: UUID
    event: Event
    mined: MinedLog


def find_executed(rail: EvmRail, network: str, contract: str) -> Iterator[FinalSpan]:
    """Yield the spans of one scan of a contract; the next call goes on after those that are done."""
    chain, pool = networks.current().chain(network), networks.current().pool(network)
    stream = Stream(contract, rail.executed_topic, is_readable=lambda one: rail.executed_id(one) is not None)
    cursor = _cursor(network, contract)
    try:
        scan = log_scan.scan(chain=chain, pool=pool, stream=stream, first_block=cursor.next_block)
    except ChainUnavailableError as error:
        log.warning("scan_failed", network=network, contract=contract, error=str(error))
        return
    for span in scan.spans:
        unbooked = list(_unbooked(rail, network, contract, span))
        hints = {one.mined.tx_hash for one in unbooked if one.event.is_hint}
        receipts = log_scan.receipts(pool, stream, [mined for mined in span.logs if mined.tx_hash in hints])
        judged = [one for one in unbooked if one.mined.tx_hash in receipts or not one.event.is_hint]
        for one in judged:
            if one.event.is_hint:
                log.info("execution_found", sweep_id=str(one.sweep_id), network=network, tx_hash=one.mined.tx_hash)
        is_whole = hints == receipts.keys()
        yield FinalSpan(
            looks=[(one.sweep_id, _seen(scan, one, receipts.get(one.mined.tx_hash))) for one in judged],
            blocks_left=scan.final_number - span.last_block if is_whole else 0,
        )
        if not is_whole:
            log.warning("receipts_missing", network=network, tx_hashes=sorted(hints - receipts.keys()))
            return
        done = span.last_block + 1
        if not ScannedBlocks.objects.filter(id=cursor.pk, next_block=cursor.next_block).update(next_block=done):
            return  # it was moved meanwhile; the next run goes on from there
        cursor.next_block = done


def rescan(*, network: str, from_block: int) -> list[tuple[str, int]]:
    """Have the contracts of a network read again from that block on; return those that were further, and how far.

    A span that is being read meanwhile does not move them forward again.
    """
    with transaction.atomic():
        ahead = ScannedBlocks.objects.select_for_update().filter(network=network, next_block__gt=from_block)
        moved = [(cursor.contract, cursor.next_block) for cursor in ahead.order_by("contract")]
        ahead.update(next_block=from_block)
    return moved


def _cursor(network: str, contract: str) -> ScannedBlocks:
    cursor = ScannedBlocks.objects.filter(network=network, contract=contract).first()
    if cursor is None:
        executions = Execution.objects.filter(network=network, venue=contract)
        lowest = executions.aggregate(height=Min("built_at_height"))["height"]
        cursor, _ = ScannedBlocks.objects.get_or_create(
            network=network, contract=contract, defaults={"next_block": max(lowest - SEARCH_MARGIN_BLOCKS, 0)}
        )
    return cursor


def _unbooked(rail: EvmRail, network: str, contract: str, span: ScannedSpan) -> Iterator[_UnbookedEvent]:
    """Yield what a span shows about our executions, except those that are known; one query, and the rail's own."""
    by_id = defaultdict(list)  # several, if other users took the same reference
    for mined in span.logs:
        by_id[rail.executed_id(mined.log)].append(mined)
    executions = (
        Execution.objects.filter(network=network, venue=contract, execution_id__in=by_id)
        .exclude(status=Execution.Status.EXECUTED)
        .select_related("sweep")
    )
    for execution, watched in zip(executions, rail.watch([one.sweep for one in executions]), strict=True):
        for mined in by_id[execution.execution_id]:
            event = watched.terms.read(mined.log)
            if event is not None:
                yield _UnbookedEvent(watched.sweep_id, event, mined)


def _seen(scan: Scan, unbooked: _UnbookedEvent, receipt: Receipt | None) -> Seen:
    mined = unbooked.mined
    sighting = Sighting(
        head_number=scan.head_number,
        safe_number=scan.final_number,
        final_number=scan.final_number,
        receipts={},
        canonical=None,
        state=True,  # the event says so
        safe_timestamp=None,
    )
    hit = Hit(unbooked.event, mined.tx_hash, mined.block_number, mined.block_hash)
    return Seen(sighting, Finding(hit, receipt, agreed=True, resume_at=None), is_final=True)
