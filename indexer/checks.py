"""Looking at due sweeps: claim them, read the chain once for all of them, settle each.

1. ``claims`` leases rows that are due. 2. The chain is read outside any transaction, one batch a chain. 3. ``settle``
writes what was seen, by compare-and-set on the lease; if nobody answered, only the time of the next look is written.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

import structlog
from django.utils import timezone

from indexer import claims
from indexer.claims import Claim
from sweepapi import chains
from sweepapi.evm import answers
from sweepapi.evm.errors import ChainUnavailableError
from sweepapi.evm.rpc import Call
from sweepapi.evm.sightings import look
from sweeps import schedule
from sweeps.models import Sweep, SweepStatus
from sweeps.settle import LeaseLostError, settle, watched

log = structlog.get_logger(__name__)

MAX_BATCHES = 50


def check_one(sweep_id: UUID) -> datetime | None:
    """Check a sweep if it is due, and return when its message should come again.

    None if another check holds it, it was not due, or it no longer waits for a receipt: beat watches over the rest.
    """
    claim = claims.claim_one(sweep_id)
    if claim is None:
        return None
    checked = _check(claim)
    waiting = [sweep for sweep in checked if sweep.status == SweepStatus.PENDING]
    return waiting[0].next_check_at if waiting else None


def check_due() -> int:
    """Check every sweep that is due, batch by batch, and return how many were."""
    safe_timestamps = _safe_timestamps(claims.open_chain_ids())
    count = 0
    for _ in range(MAX_BATCHES):
        claim = claims.claim_due(safe_timestamps=safe_timestamps)
        if claim is None:
            break
        _check(claim)
        count += len(claim.sweeps)
    return count


def _check(claim: Claim) -> list[Sweep]:
    """Read and settle the claimed sweeps, and return those that this check was the one to write."""
    checked: list[Sweep] = []
    for chain_id, group in groupby(sorted(claim.sweeps, key=attrgetter("chain_id")), key=attrgetter("chain_id")):
        sweeps = list(group)
        try:
            seen = look(
                chain=chains.by_id(chain_id), pool=chains.pool(chain_id), watched=[watched(sweep) for sweep in sweeps]
            )
        except ChainUnavailableError as error:
            _postpone(sweeps, claim.lease, str(error))
            continue
        for sweep in sweeps:
            try:
                checked.append(settle(sweep_id=sweep.id, sighting=seen[sweep.id], lease=claim.lease).sweep)
            except LeaseLostError:
                log.info("lease_lost", sweep_id=str(sweep.id))
    return checked


def _postpone(sweeps: Sequence[Sweep], lease: UUID, reason: str) -> None:
    """Give the lease back and look again later; nothing was learnt."""
    now = timezone.now()
    for sweep in sweeps:
        Sweep.objects.filter(id=sweep.id, lease_token=lease).update(
            lease_token=None,
            lease_until=None,
            last_error=reason,
            next_check_at=schedule.backed_off(now, since=sweep.last_checked_at or sweep.created_at),
        )


def _safe_timestamps(chain_ids: Sequence[int]) -> dict[int, int]:
    """Return the time of each chain's safe block; a chain that does not answer is left out."""
    timestamps = {}
    for chain_id in chain_ids:
        tag = chains.by_id(chain_id).finality.safe
        if isinstance(tag, int):
            continue  # depth needs the head first; the server's clock is near enough there
        try:
            (safe,) = chains.pool(chain_id).batch([Call("eth_getBlockByNumber", (tag, False), answers.optional_block)])
        except ChainUnavailableError as error:
            log.warning("safe_block_unknown", chain_id=chain_id, error=str(error))
            continue
        if safe is not None:
            timestamps[chain_id] = safe.timestamp
    return timestamps
