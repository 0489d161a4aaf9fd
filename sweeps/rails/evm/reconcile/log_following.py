"""Follows the events of our contracts on the blocks of a chain that are not final yet, for all contract versions.

An event only proposes a transaction for an execution that was offered and is not known to be executed; its receipt is
then checked like that of a reported hash. What is found is settled by the caller, and nothing is missed for good if
that fails: unfinal blocks are read again at the next poll, and final ones by the reconciliation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.utils import timezone

from sweepapi.evm.encoding.responses import MinedLog, Receipt
from sweepapi.evm.logs import log_poll
from sweepapi.evm.logs.log_poll import Depths, Poll
from sweepapi.evm.logs.log_search import Event, Hit, SearchFinding
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.evm.logs.standing import SeenTransaction
from sweepapi.networks import Networks
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from sweeps.books.venues import venues_of
from sweeps.models import ChainHead, SweepTransaction
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.reconcile.unsettled import unsettled
from sweeps.store.reading import read

log = structlog.get_logger(__name__)

REFUSED = (SweepTransaction.Status.REJECTED, SweepTransaction.Status.REVERTED)
RECHECK_INTERVAL = timedelta(seconds=5)  # what such a check shows rarely changes from poll to poll


@dataclass(frozen=True)
class _Proposal:
    """An event about an open sweep, and what it says about it."""

    followed: FollowedEvmSweep
    event: Event
    mined: MinedLog
    checked_at: datetime | None  # when the sweep was checked last
    was_refused: bool  # the transaction; a wrong refusal must not hide it

    @property
    def is_hint(self) -> bool:
        """Whether a receipt is all that is missing."""
        return self.event.is_hint and self.followed.accepted is None

    @property
    def was_checked(self) -> bool:
        return self.checked_at is not None and timezone.now() - self.checked_at < RECHECK_INTERVAL

    def is_due(self, depths: Depths) -> bool:
        """Whether to check the sweep: what was accepted may be gone, or its identity is used on a safe block."""
        is_safe = depths.safe is not None and self.mined.block_number <= depths.safe
        return not self.was_checked and (is_safe or self.followed.accepted is not None)


@dataclass(frozen=True)
class LogFollower:
    """Reads the events of all versions of our contract together."""

    rails: Mapping[str, EvmRail]  # by their names

    def follow(self, registry: Networks, network: str) -> Iterator[tuple[UUID, EvmReading]]:
        """Yield what one poll shows of open sweeps; nothing if no execution was offered on this network."""
        contracts = {venue: self.rails[name] for venue, name in venues_of(network) if name in self.rails}
        if not contracts:
            return
        try:
            poll = _poll(registry, network, contracts)
        except ChainUnavailableError as error:
            log.warning("poll_failed", network=network, error=str(error))
            return
        for contract, rail in contracts.items():
            yield from _readings(registry, rail, network, contract, poll)


def _poll(registry: Networks, network: str, contracts: Mapping[str, EvmRail]) -> Poll:
    """Read the events, and note how high the chain is."""
    stored = ChainHead.objects.filter(network=network).first()
    known = None if stored is None else Depths(stored.number, stored.safe_number, stored.final_number)
    topics = {topic for rail in contracts.values() for topic in rail.event_topics}
    poll = log_poll.poll(
        chain=registry.chain(network), pool=registry.pool(network), contracts=contracts, topics=topics, known=known
    )
    if not poll.is_whole:
        log.warning("poll_incomplete", network=network, provider=repr(poll.provider))
    ChainHead.objects.bulk_create(
        [
            ChainHead(
                network=network,
                number=poll.depths.head,
                safe_number=poll.depths.safe,
                final_number=poll.depths.final,
                timestamp=poll.timestamp,
            )
        ],
        update_conflicts=True,
        unique_fields=["network"],
        update_fields=["number", "safe_number", "final_number", "timestamp", "seen_at"],
    )
    return poll


def _readings(
    registry: Networks, rail: EvmRail, network: str, contract: str, poll: Poll
) -> Iterator[tuple[UUID, EvmReading]]:
    proposals = list(_proposals(rail, network, contract, poll))
    hints = [one for one in proposals if one.is_hint and not (one.was_refused and one.was_checked)]
    pool = registry.pool(network)
    seen = log_poll.seen(pool, poll.provider, list({one.mined.tx_hash: None for one in hints}))
    for one in hints:
        tx = seen.get(one.mined.tx_hash)
        if tx is not None and _shows(tx.receipt, one.mined):
            log.info("execution_found", sweep_id=str(one.followed.sweep_id), network=network, tx_hash=one.mined.tx_hash)
            yield one.followed.sweep_id, _reading(poll.depths, one, tx)
    others = {one.followed.sweep_id: one.followed for one in proposals if not one.is_hint and one.is_due(poll.depths)}
    for readings in rail.read(registry, network, list(others.values())):
        yield from ((sweep_id, one) for sweep_id, one in readings if one is not None)


def _proposals(rail: EvmRail, network: str, contract: str, poll: Poll) -> Iterator[_Proposal]:
    """Yield the events about open sweeps which these do not know."""
    events = [(one, rail.execution_id(one.subject)) for one in poll.events if one.contract == contract]
    found = unsettled(network, contract, events)
    sweeps = read({sweep_id for _, sweep_id in found})
    followed = {one.sweep_id: one for one in rail.follow(list(sweeps.values()))}
    for polled, sweep_id in found:
        try:
            mined = polled.decode()
        except BadResponseError as error:
            log.warning("log_unreadable", network=network, tx_hash=polled.tx_hash, error=str(error))
            continue
        event = followed[sweep_id].terms.read(mined.log)
        if event is not None:
            stored = sweeps[sweep_id]
            was_refused = any(tx.tx_hash == mined.tx_hash and tx.status in REFUSED for tx in stored.candidates)
            yield _Proposal(followed[sweep_id], event, mined, stored.sweep.last_checked_at, was_refused)


def _shows(receipt: Receipt, mined: MinedLog) -> bool:
    is_in_block = (receipt.block_number, receipt.block_hash) == (mined.block_number, mined.block_hash)
    return is_in_block and mined.log in receipt.logs


def _reading(depths: Depths, proposal: _Proposal, seen: SeenTransaction) -> EvmReading:
    mined = proposal.mined
    sighting = Sighting(
        head_number=max(depths.head, mined.block_number),  # a block may come between the calls of a batch
        safe_number=depths.safe,
        final_number=depths.final,
        receipts={},
        canonical=None,
        state=None,
        safe_timestamp=None,
    )
    hit = Hit(proposal.event, mined)
    return EvmReading(sighting, SearchFinding(hit, seen, agreed=False, resume_at=None))
