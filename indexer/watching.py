"""Looks at the blocks whose sweeps rest, so that these become safe, final, or are looked at themselves.

A look that ends half-way loses nothing: what it wrote is whole, and its blocks are due again after a while.
"""

import time
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter

import structlog
from django.db.models import F
from django.db.models.functions import Greatest, Now

from sweepapi import networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps import finality
from sweeps.models import WatchedBlock
from sweeps.rails.registry import look_at_blocks

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=20)  # when another may take over; a chain that does not answer is asked again then
BATCH_BLOCKS = 250
RUN_SECONDS = 10.0  # after which the rest is left to the next run, so that other tasks have their turn

_CLAIM = """
UPDATE sweeps_watchedblock SET due_at = statement_timestamp() + %(lease)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_watchedblock
    WHERE due_at <= statement_timestamp() AND network = ANY(%(networks)s)
    ORDER BY due_at LIMIT %(blocks)s FOR UPDATE SKIP LOCKED
)) RETURNING *
"""


def watch() -> None:
    """Look at every block that is due; what can't be settled keeps no other chain from its turn."""
    ends_at = time.monotonic() + RUN_SECONDS
    errors = []
    while time.monotonic() < ends_at and (blocks := _claim()):
        for network, group in groupby(sorted(blocks, key=attrgetter("network")), key=attrgetter("network")):
            try:
                _look(network, list(group))
            except ChainUnavailableError as error:
                log.warning("blocks_not_shown", network=network, error=str(error))
            except Exception as error:
                log.exception("watching_failed", network=network)
                errors.append(error)
    if errors:
        raise ExceptionGroup("not every block could be looked at", errors)


def _claim() -> list[WatchedBlock]:
    """Take the blocks that are due for the longest time, by the database's clock."""
    known = list(networks.current().known)
    return list(WatchedBlock.objects.raw(_CLAIM, {"lease": LEASE, "networks": known, "blocks": BATCH_BLOCKS}))


def _look(network: str, blocks: Sequence[WatchedBlock]) -> None:
    look = look_at_blocks(network, blocks)
    seen = WatchedBlock.objects.filter(id__in=[block.pk for block in blocks])
    seen.update(head_number=Greatest(F("head_number"), look.head_number), due_at=Now() + look.recheck)
    finality.give_up(look.gone)
    finality.make_safe(look.safe)
    finality.make_final(look.final, head_number=look.head_number)
