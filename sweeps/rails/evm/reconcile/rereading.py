"""Reads the events in a range of final blocks, whatever the reconciliation has read, as two providers show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Min

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import FinalBlockReplacedError
from sweepapi.evm.deployment.specification import V4, V5
from sweepapi.evm.encoding import responses
from sweepapi.evm.logs import log_scan
from sweepapi.evm.logs.log_scan import Scan, ScanMark, ScannedSpan, Stream
from sweepapi.networks import Networks
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.agreement import ask_agreed
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.books.comparison import Blocks
from sweeps.books.venues import venues_of
from sweeps.models import Execution
from sweeps.rails.evm.follow.followed import SEARCH_MARGIN_BLOCKS
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.rail import EvmRail

DAY_SECONDS = 86_400
# How far below the final block to look for the block of a day before, each a fifth further than the one before; the
# last one is a day of blocks of an eighth of a second.
DISTANCES = sorted({int(1.19**exponent) for exponent in range(78)})


@dataclass(frozen=True)
class ContractPlace:
    """One of our contracts on a network."""

    rail: EvmRail
    network: str
    contract: str

    @property
    def stream(self) -> Stream:
        rail = self.rail
        return Stream(self.contract, rail.event_topics, is_readable=lambda log: rail.emitted(log) is not None)


def places_of(chain: Chain, rails: Mapping[str, EvmRail]) -> list[ContractPlace]:
    """Return the contracts at which executions were offered, and the configured ones: a backup may be older."""
    configured = {V5: chain.v5_contract, V4: chain.v4_contract}
    found = {contract: rail for rail in rails.values() if (contract := configured[rail.contract_name]) is not None}
    found |= {venue: rails[name] for venue, name in venues_of(chain.network) if name in rails}
    return [ContractPlace(rail, chain.network, contract) for contract, rail in sorted(found.items())]


def spans(registry: Networks, place: ContractPlace, blocks: Blocks) -> Iterator[tuple[Scan, ScannedSpan]]:
    """Yield all spans of the range; raises ``ChainUnavailableError`` if the providers do not show one alike."""
    chain, pool = registry.chain(place.network), registry.pool(place.network)
    mark = ScanMark(blocks.first - 1)
    while mark.number < blocks.last:
        try:
            scan = log_scan.scan(chain=chain, pool=pool, stream=place.stream, after=mark, last_block=blocks.last)
        except FinalBlockReplacedError as error:
            raise ChainUnavailableError(f"a final block was replaced meanwhile: {error}") from error
        if not scan.spans:
            raise ChainUnavailableError(f"the providers do not show the same events above block {mark.number}")
        for span in scan.spans:
            yield scan, span
            mark = span.end


def final_blocks(registry: Networks, network: str, *, first: int | None, last: int | None) -> Blocks:
    """Return the blocks of this range that are final, by default from before the first build or deployment on."""
    chain = registry.chain(network)
    _, final_number = log_scan.depths(chain, registry.pool(network))
    if first is None:
        lowest = Execution.objects.filter(network=network).aggregate(height=Min("built_at_height"))["height"]
        known = [height for height in (lowest, chain.deployed_at_block) if height is not None]
        first = max(min(known, default=0) - SEARCH_MARGIN_BLOCKS, 0)
    return Blocks(first, final_number if last is None else min(last, final_number))


def last_day(registry: Networks, network: str, *, compared: int | None) -> Blocks:
    """Return the blocks of the last day and above the compared ones, as far as the reconciliation has read."""
    pool = registry.pool(network)
    _, final_number = log_scan.depths(registry.chain(network), pool)
    heights = [final_number, *(final_number - distance for distance in DISTANCES if distance <= final_number)]
    final, *below = ask_agreed(pool, [_block_at(height) for height in heights])
    old = [block.number for block in below if block.timestamp <= final.timestamp - DAY_SECONDS]
    read = ScannedBlocks.objects.filter(network=network).aggregate(lowest=Min("next_block"))["lowest"]
    first = min(max(old, default=0), final_number if compared is None else compared + 1)
    return Blocks(first, final_number if read is None else min(read - 1, final_number))


def timestamp_of(pool: ProviderPool, height: int) -> int:
    """Return when a block was made, in seconds since 1970."""
    (block,) = ask_agreed(pool, [_block_at(height)])
    timestamp: int = block.timestamp
    return timestamp


def _block_at(height: int) -> Call:
    return Call("eth_getBlockByNumber", (hex(height), False), responses.block)
