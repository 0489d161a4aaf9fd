"""Reads the events of our contracts on final blocks and compares them with the executions that were offered.

What the service does not know yet is settled: executions that were not reported, also of sweeps that it closed, and
cancellations. As elsewhere, the receipt is checked, and not the event: here it must show exactly the logs that the
providers agreed about. What was not offered is stored (``unmatched``).
"""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Min, Q
from django.utils import timezone

from sweepapi.evm.chain.errors import FinalBlockReplacedError
from sweepapi.evm.logs import log_scan
from sweepapi.evm.logs.log_query import SPAN_BLOCKS
from sweepapi.evm.logs.log_scan import Scan, ScanMark
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.models import Execution, SweepTransaction
from sweeps.protocol.rail import FinalSpan
from sweeps.rails.evm.follow.followed import SEARCH_MARGIN_BLOCKS
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.reconcile import unmatched
from sweeps.rails.evm.reconcile.comparing import compare
from sweeps.rails.evm.reconcile.rereading import ContractPlace
from sweeps.store.reading import read

log = structlog.get_logger(__name__)

OVERDUE = timedelta(seconds=60)  # checks of due rows are that late only if none are made


def find_executed(registry: Networks, place: ContractPlace) -> Iterator[FinalSpan]:
    """Yield the spans of one scan of a contract; the next call goes on after those that are done."""
    cursor = _cursor(place)
    overdue = list(_overdue(registry, place.rail, cursor))
    if overdue:
        yield FinalSpan(overdue, blocks_left=0)
    scan = _scan(registry, place, cursor)
    if scan is None:
        return
    for span in scan.spans:
        found = compare(registry, place, scan, span)
        yield FinalSpan(found.readings, blocks_left=0 if found.unproven else scan.final_number - span.end.number)
        unmatched.store(place.network, found.unmatched)
        if found.unproven:
            log.warning("receipts_missing", network=place.network, tx_hashes=sorted(found.unproven))
            return
        if not _move(cursor, span.end):
            return  # it was moved meanwhile; the next run goes on from there


def _scan(registry: Networks, place: ContractPlace, cursor: ScannedBlocks) -> Scan | None:
    network = place.network
    after = ScanMark(cursor.next_block - 1, cursor.last_hash or "")
    try:
        return log_scan.scan(
            chain=registry.chain(network), pool=registry.pool(network), stream=place.stream, after=after
        )
    except ChainUnavailableError as error:
        log.warning("scan_failed", network=network, contract=place.contract, error=str(error))
    except FinalBlockReplacedError:
        log.exception("final_block_replaced", network=network, contract=place.contract)
        rescan(network=network, from_block=max(cursor.next_block - SPAN_BLOCKS, 0))
    return None


def _overdue(registry: Networks, rail: EvmRail, cursor: ScannedBlocks) -> Iterator[tuple[UUID, EvmReading]]:
    """Yield readings of open sweeps whose accepted block was read, so that it is final, and that nothing checked."""
    overdue = timezone.now() - OVERDUE
    accepted = SweepTransaction.objects.filter(
        Q(sweep__next_check_at__lt=overdue)
        | Q(sweep__next_check_at__isnull=True, sweep__watched_block__due_at__lt=overdue),
        status=SweepTransaction.Status.ACCEPTED,
        block_number__lt=cursor.next_block,
        execution__network=cursor.network,
        execution__venue=cursor.contract,
        sweep__is_open=True,
    )
    sweeps = read(accepted.values_list("sweep_id", flat=True))
    lots = rail.read(registry, cursor.network, rail.follow(list(sweeps.values())))
    return ((sweep_id, one) for readings in lots for sweep_id, one in readings if one is not None)


def rescan(*, network: str, from_block: int) -> list[tuple[str, int]]:
    """Have the contracts of a network read again from that block on; return those that were further, and how far.

    A span that is being read meanwhile does not move them forward again.
    """
    with transaction.atomic():
        ahead = ScannedBlocks.objects.select_for_update().filter(network=network, next_block__gt=from_block)
        moved = [(cursor.contract, cursor.next_block) for cursor in ahead.order_by("contract")]
        ahead.update(next_block=from_block, last_hash=None)
    return moved


def _move(cursor: ScannedBlocks, end: ScanMark) -> bool:
    facts = {"next_block": end.number + 1, "last_hash": end.block_hash}
    is_moved = bool(ScannedBlocks.objects.filter(id=cursor.pk, next_block=cursor.next_block).update(**facts))
    cursor.next_block = end.number + 1
    return is_moved


def _cursor(place: ContractPlace) -> ScannedBlocks:
    cursor = ScannedBlocks.objects.filter(network=place.network, contract=place.contract).first()
    if cursor is None:
        executions = Execution.objects.filter(network=place.network, venue=place.contract)
        lowest = executions.aggregate(height=Min("built_at_height"))["height"]
        cursor, _ = ScannedBlocks.objects.get_or_create(
            network=place.network,
            contract=place.contract,
            defaults={"next_block": max(lowest - SEARCH_MARGIN_BLOCKS, 0)},
        )
    return cursor
