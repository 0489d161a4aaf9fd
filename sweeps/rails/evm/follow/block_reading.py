"""Reads watched blocks of a chain, for all contract versions together: one read per height, whatever awaits it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.logs import block_views
from sweepapi.evm.logs.block_views import Source
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweeps.books.venues import venues_of
from sweeps.models import WatchedBlock
from sweeps.rails.evm.follow.following import MAX_RECHECK_SECONDS

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class BlockReading:
    """What became of watched blocks, by their ids."""

    head_number: int
    recheck: timedelta  # after which to check again those that are neither final nor gone
    safe: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    # Final ones, with the digests that two providers show of each contract and transaction.
    final: dict[int, Mapping[Source, str]] = field(default_factory=dict)


def read(registry: Networks, network: str, blocks: Sequence[WatchedBlock]) -> BlockReading:
    """Return what the chain shows of these blocks; raises ``ChainUnavailableError``.

    One round trip while nothing is final or gone; otherwise one more to every provider for fifty heights.
    """
    chain, pool = registry.chain(network), registry.pool(network)
    shown = block_views.heights(chain, pool, [block.number for block in blocks])
    result = BlockReading(shown.head, timedelta(seconds=min(chain.finality.recheck_seconds, MAX_RECHECK_SECONDS)))
    doubtful = []
    for block, block_hash in zip(blocks, shown.hashes, strict=True):
        if block_hash is None:
            continue  # it lags
        if block_hash != block.hash or block.number <= shown.final:
            doubtful.append(block)
        elif block.number <= shown.safe and not block.is_safe:
            result.safe.append(block.pk)
    _conclude(chain, pool, doubtful, result)
    return result


def _conclude(chain: Chain, pool: ProviderPool, blocks: Sequence[WatchedBlock], result: BlockReading) -> None:
    """Sort blocks that one provider shows to be final or gone by what two of them show."""
    if not blocks:
        return
    contracts = {venue for venue, _ in venues_of(chain.network)}
    numbers = sorted({block.number for block in blocks})
    shown = dict(block_views.views(chain, pool, contracts, numbers))
    for block in blocks:
        consensus = block_views.conclude(block.hash, shown[block.number], needed=pool.needed)
        if consensus.is_gone:
            result.gone.append(block.pk)
        elif consensus.is_final:
            result.final[block.pk] = consensus.proven
        elif consensus.is_disputed:
            log.error("providers_disagree", network=chain.network, subject=f"block {block.number}")
