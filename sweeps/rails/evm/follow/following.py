"""Follows sweeps on an EVM chain: batches that providers accept, log searches, and the times of the readings.

Which state of a contract is read, and which events can explain it, is defined by that contract's rail.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from sweepapi import networks
from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.logs.log_search import MAX_SEARCHES, LogSearch, SearchFinding, find
from sweepapi.evm.logs.sightings import Sighting, read_sightings
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps import schedule
from sweeps.models import Flag
from sweeps.protocol.rail import SweepProgress, Verdict
from sweeps.rails.evm.follow.followed import ONE_WORD_AFTER, FollowedEvmSweep

log = structlog.get_logger(__name__)

# Flags: what identifies the sweep was used on chain, and no known transaction explains that.
NONCE_USED, SWEEP_REF_USED = USED_FLAGS = ("nonce_used", "sweep_ref_used")
# Providers cap the calls of a batch, at a thousand (geth) or at far less, where it is sent in parts.
MAX_CALLS = 500
# Beat runs a few seconds late, and a check is promised at least every 30 seconds.
MAX_RECHECK_SECONDS = 20


@dataclass(frozen=True)
class EvmReading:
    """What was read of one sweep."""

    sighting: Sighting
    finding: SearchFinding | None = None  # None if there was no search
    is_final: bool = False  # the finding is of a final block, and from two providers where there are two


def read(
    registry: Networks, network: str, followed: Sequence[FollowedEvmSweep], *, timeout_seconds: float | None = None
) -> Iterator[list[tuple[UUID, EvmReading | None]]]:
    """Yield what was read of the sweeps, None where no provider answered; searches only if there is no timeout."""
    chain, pool = registry.chain(network), registry.pool(network)
    for batch in _batches(followed):
        yield from _read_batch(chain, pool, batch, timeout_seconds)


def _batches(followed: Sequence[FollowedEvmSweep]) -> Iterator[list[FollowedEvmSweep]]:
    """Yield batches that stay under the number of calls that providers take at once."""
    batch: list[FollowedEvmSweep] = []
    calls = 0
    for one in followed:
        needed = max(len(one.tx_hashes) + (one.accepted is not None), 1)  # its block; the states share a call
        if batch and calls + needed > MAX_CALLS:
            yield batch
            batch, calls = [], 0
        batch.append(one)
        calls += needed
    if batch:
        yield batch


def _read_batch(
    chain: Chain, pool: ProviderPool, followed: Sequence[FollowedEvmSweep], timeout_seconds: float | None
) -> Iterator[list[tuple[UUID, EvmReading | None]]]:
    """Read one batch.

    If it fails while a provider answers, it is halved, so that a sweep whose hashes can't be looked up (anyone may
    report any hash) delays only itself.
    """
    subjects = [one.subject for one in followed]
    try:
        sightings = read_sightings(chain=chain, pool=pool, subjects=subjects, timeout_seconds=timeout_seconds)
    except ChainUnavailableError:
        if len(followed) == 1 or not _answers(pool):
            yield [(one.sweep_id, None) for one in followed]
            return
        middle = len(followed) // 2
        yield from _read_batch(chain, pool, followed[:middle], timeout_seconds)
        yield from _read_batch(chain, pool, followed[middle:], timeout_seconds)
        return
    readings = {one.sweep_id: EvmReading(sightings[one.sweep_id]) for one in followed}
    if timeout_seconds is None:
        yield from _searched(chain, pool, followed, readings)
    else:
        yield list(readings.items())


def _answers(pool: ProviderPool) -> bool:
    try:
        pool.batch([head_call()])
    except ChainUnavailableError:
        return False
    return True


def _searched(
    chain: Chain, pool: ProviderPool, followed: Sequence[FollowedEvmSweep], readings: Mapping[UUID, EvmReading]
) -> Iterator[list[tuple[UUID, EvmReading | None]]]:
    """Yield first the sweeps that need no search, so that they don't wait, then the others with their findings."""
    found = ((one.sweep_id, one.search(readings[one.sweep_id].sighting)) for one in followed)
    searches = {sweep_id: search for sweep_id, search in found if search is not None}
    yield [(sweep_id, one) for sweep_id, one in readings.items() if sweep_id not in searches]
    unexplained = list(searches)
    for start in range(0, len(unexplained), MAX_SEARCHES):
        batch = unexplained[start : start + MAX_SEARCHES]
        findings = _findings(chain, pool, [searches[sweep_id] for sweep_id in batch])
        yield [(sweep_id, replace(readings[sweep_id], finding=findings.get(sweep_id))) for sweep_id in batch]


def _findings(chain: Chain, pool: ProviderPool, searches: Sequence[LogSearch]) -> Mapping[Hashable, SearchFinding]:
    try:
        return find(chain=chain, pool=pool, searches=searches)
    except ChainUnavailableError as error:
        log.warning("search_failed", network=chain.network, error=str(error))
        return {}


def next_check(progress: SweepProgress, verdict: Verdict) -> datetime | None:
    """Return when to check again.

    Within a few blocks while any block can change something, with growing delays while a receipt is awaited, and
    otherwise when the deadline has passed. None if only its block can change something.
    """
    if _can_await_finality(progress, verdict):
        return None
    now = progress.now
    finality = networks.current().chain(progress.network).finality
    recheck = now + timedelta(seconds=min(finality.recheck_seconds, MAX_RECHECK_SECONDS))
    soon = [recheck] if _changes_within_blocks(progress, verdict) else []
    if progress.shown_since is not None:
        counts_at = progress.shown_since + ONE_WORD_AFTER
        soon.append(schedule.agreement_check(now, since=progress.shown_since, counts_at=counts_at))
    elif progress.submitted_at is not None:
        soon.append(schedule.backed_off(now, since=progress.submitted_at))
    if soon:
        return min(soon)
    if now >= progress.deadline or verdict.has_run_out:
        return schedule.backed_off(now, since=progress.deadline)
    return recheck if any(flag in progress.flags for flag in USED_FLAGS) else progress.deadline + timedelta(seconds=1)


def _can_await_finality(progress: SweepProgress, verdict: Verdict) -> bool:
    """Whether it was executed, and nothing else is known of it: what is unusual is checked by itself."""
    is_clear = not progress.flags and not any(one.obstacle for one in verdict.executions.values())
    return progress.is_executed and is_clear and progress.submitted_at is None and not progress.is_cancelling


def _changes_within_blocks(progress: SweepProgress, verdict: Verdict) -> bool:
    return (
        progress.is_executed
        or Flag.REORGANISED in progress.flags  # usually mined again within a few blocks
        or progress.is_searching
        or (progress.is_cancelling and not verdict.has_run_out)
    )


def clock(registry: Networks, network: str) -> datetime | None:
    """Return the time of the chain's newest safe block; None if that is not a tag, or no provider answers."""
    tag = registry.chain(network).finality.safe
    if isinstance(tag, int):
        return None  # that would need the head first; the server's clock is close enough
    try:
        _, safe = registry.pool(network).batch([head_call(), optional_block_call(tag)])
    except ChainUnavailableError as error:
        log.warning("safe_block_unknown", network=network, error=str(error))
        return None
    return None if safe is None else datetime.fromtimestamp(safe.timestamp, tz=UTC)
