"""Checks the blocks whose finality sweeps await, so that these become safe, final, or are checked themselves.

A check that ends half-way loses nothing: what it wrote is whole, and its blocks are due again when its lease ends.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

import structlog

from indexer.leases import LEASE, renewed
from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.models import WatchedBlock
from sweeps.rails.registry import read_blocks
from sweeps.store import blocks as store
from sweeps.story import finality

log = structlog.get_logger(__name__)

HELD_OFF = timedelta(seconds=20)  # for which blocks are left alone that can't be settled
BATCH_BLOCKS = 50
RUN_SECONDS = 10.0  # after which the rest is left to the next run, so that other tasks have their turn


@dataclass(frozen=True)
class BlockClaim:
    """Blocks that no other run checks while they are due at one of the times that this one set."""

    blocks: list[WatchedBlock]
    held_until: set[datetime] = field(default_factory=set)

    def renew(self) -> None:
        """Extend the lease of those that were not checked yet."""
        self.held_until.update(store.renew(_ids(self.blocks), held_until=self.held_until, lease=LEASE))


def check_due() -> None:
    """Check every block that is due; a chain that fails keeps no other from its turn, and waits for the next run."""
    registry, ends_at = networks.current(), time.monotonic() + RUN_SECONDS
    failed: dict[str, Exception] = {}
    while time.monotonic() < ends_at and (claim := _claim(set(registry.known).difference(failed))).blocks:
        with renewed(claim.renew):
            failed |= _check_all(registry, claim.blocks)
    errors = [error for error in failed.values() if not isinstance(error, ChainUnavailableError)]
    if errors:
        raise ExceptionGroup("not every block could be checked", errors)


def _claim(chains: Collection[str]) -> BlockClaim:
    blocks = store.claim(chains, rows=BATCH_BLOCKS, lease=LEASE)
    return BlockClaim(blocks, {block.due_at for block in blocks})


def _check_all(registry: Networks, blocks: Sequence[WatchedBlock]) -> dict[str, Exception]:
    """Check each network's blocks, and return what failed, by network."""
    failed: dict[str, Exception] = {}
    for network, group in groupby(sorted(blocks, key=attrgetter("network")), key=attrgetter("network")):
        claimed = list(group)
        try:
            _check(registry, network, claimed)
        except ChainUnavailableError as error:
            log.warning("blocks_not_shown", network=network, error=str(error))
            failed[network] = error
        except Exception as error:
            log.exception("blocks_failed", network=network)
            store.put_off(_ids(claimed), HELD_OFF)
            failed[network] = error
    return failed


def _check(registry: Networks, network: str, blocks: Sequence[WatchedBlock]) -> None:
    reading = read_blocks(registry, network, blocks)
    store.note_head(_ids(blocks), reading.head_number, recheck=reading.recheck)
    finality.give_up(reading.gone)
    finality.make_safe(reading.safe)
    finality.make_final(reading.final, head_number=reading.head_number)


def _ids(blocks: Sequence[WatchedBlock]) -> list[int]:
    return [block.pk for block in blocks]
