"""Looking at due sweeps: claim them, read the chain once for all of them, settle each.

1. ``claims`` leases rows that are due. 2. The chain is read outside any transaction, one batch a chain. 3. What used a
nonce that no known transaction explains is searched for. 4. ``settle`` writes what was seen, by compare-and-set on the
lease; if nobody answered, only the time of the next look is written.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import ChainUnavailableError
from sweepapi.evm.nonce_use import MAX_SEARCHES, Finding, Search, find_uses
from sweepapi.evm.rpc import Call, ProviderPool
from sweepapi.evm.sightings import Sighting, look
from sweeps import schedule
from sweeps.models import NOBODY_ANSWERED, Sweep, SweepStatus, SweepTransaction
from sweeps.settle import LeaseLostError, search_for, settle, watched

log = structlog.get_logger(__name__)

# Providers cap the calls of a batch, at a thousand (geth) or at far less.
MAX_CALLS = 100


def check_one(sweep_id: UUID) -> datetime | None:
    """Check a sweep if it is due, and return when its message should come again.

    None if another check holds it, it was not due, or it no longer waits for a receipt: beat watches over the rest.
    """
    claim = claims.claim_one(sweep_id)
    if claim is None:
        return None
    waiting = [sweep for sweep in _check(claim) if _awaits_receipt(sweep)]
    return waiting[0].next_check_at if waiting else None


def check_due() -> int:
    """Check every sweep that is due once, batch by batch, and return how many were."""
    count = 0
    for claim in claims.claim_due(safe_timestamps=_safe_timestamps(claims.open_chain_ids())):
        _check(claim)
        count += len(claim.sweeps)
    return count


def _awaits_receipt(sweep: Sweep) -> bool:
    submitted = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED)
    return sweep.status == SweepStatus.PENDING and submitted.exists()


def _check(claim: Claim) -> list[Sweep]:
    """Read and settle the claimed sweeps, and return those that this check was the one to write."""
    checked: list[Sweep] = []
    for chain_id, group in groupby(sorted(claim.sweeps, key=attrgetter("chain_id")), key=attrgetter("chain_id")):
        for batch in _batches(group):
            for sweep, sighting in _look(chains.by_id(chain_id), batch):
                if sighting is None:
                    _postpone(sweep, claim.lease)
                    continue
                try:
                    checked.append(settle(sweep_id=sweep.id, sighting=sighting, lease=claim.lease).sweep)
                except LeaseLostError:
                    log.info("lease_lost", sweep_id=str(sweep.id))
    return checked


def _batches(sweeps: Iterable[Sweep]) -> Iterator[list[Sweep]]:
    """Yield the sweeps in batches that stay under the number of calls that providers take at once."""
    batch: list[Sweep] = []
    calls = 0
    for sweep in sweeps:
        calls += len(sweep.transactions.all()) + 1
        if batch and calls > MAX_CALLS:
            yield batch
            batch, calls = [], len(sweep.transactions.all()) + 1
        batch.append(sweep)
    if batch:
        yield batch


def _look(chain: Chain, sweeps: Sequence[Sweep]) -> Iterator[tuple[Sweep, Sighting | None]]:
    """Yield each sweep with what was seen of it, None where nobody could be asked.

    A batch that fails while the chain answers is halved, so that a sweep whose hashes can't be looked up (anybody may
    report any hash) delays only itself.
    """
    pool = chains.pool(chain.chain_id)
    try:
        seen = look(chain=chain, pool=pool, watched=[watched(sweep) for sweep in sweeps])
    except ChainUnavailableError:
        if len(sweeps) == 1 or not _answers(pool):
            yield from ((sweep, None) for sweep in sweeps)
            return
        middle = len(sweeps) // 2
        yield from _look(chain, sweeps[:middle])
        yield from _look(chain, sweeps[middle:])
    else:
        yield from _search(chain, [(sweep, seen[sweep.id]) for sweep in sweeps])


def _search(chain: Chain, seen: Sequence[tuple[Sweep, Sighting]]) -> Iterator[tuple[Sweep, Sighting]]:
    """Yield the sightings, with what used each nonce that none of the receipts explains, as far as it was found."""
    searches = {sweep.id: search for sweep, sighting in seen if (search := search_for(sweep, sighting)) is not None}
    yield from ((sweep, sighting) for sweep, sighting in seen if sweep.id not in searches)
    unexplained = [(sweep, sighting) for sweep, sighting in seen if sweep.id in searches]
    for start in range(0, len(unexplained), MAX_SEARCHES):
        batch = unexplained[start : start + MAX_SEARCHES]
        findings = _findings(chain, [searches[sweep.id] for sweep, _ in batch])
        yield from ((sweep, replace(sighting, finding=findings.get(sweep.id))) for sweep, sighting in batch)


def _findings(chain: Chain, searches: Sequence[Search]) -> Mapping[Hashable, Finding]:
    try:
        return find_uses(chain=chain, pool=chains.pool(chain.chain_id), searches=searches)
    except ChainUnavailableError as error:
        log.warning("search_failed", chain_id=chain.chain_id, error=str(error))
        return {}


def _answers(pool: ProviderPool) -> bool:
    try:
        pool.batch([Call("eth_getBlockByNumber", ("latest", False), answers.block)])
    except ChainUnavailableError:
        return False
    return True


def _postpone(sweep: Sweep, lease: UUID) -> None:
    """Give the lease back and look again later; nothing was learnt."""
    Sweep.objects.filter(id=sweep.id, lease_token=lease).update(
        lease_token=None,
        lease_until=None,
        last_error=NOBODY_ANSWERED,
        next_check_at=schedule.backed_off(timezone.now(), since=sweep.last_checked_at or sweep.created_at),
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
