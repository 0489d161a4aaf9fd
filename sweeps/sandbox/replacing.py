"""Replaces the newest blocks of a sandbox chain and mines again what they held, although that may be interrupted.

What has to be mined is in PostgreSQL before the blocks are removed. If the node or this process fails in between, the
next change of the chain, by any partner, does all of it again.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import structlog
from eth_utils.crypto import keccak

from sweepapi.networks import Networks
from sweeps.sandbox.blocks import WITHOUT_TRANSACTIONS, fill_payer, send_if_valid
from sweeps.sandbox.node import NodeRefusedError, SandboxNode, node_of, refusals_as_failures
from sweeps.sandbox.turns import CHANGE_SECONDS, Unfinished, taking_turn

MAX_REPLACED_BYTES = 4 * 2**20  # of transactions that are kept meanwhile

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Replacement:
    """What is mined in place of the newest blocks."""

    first: int  # the height of the lowest
    parent_hash: str  # of the block below it
    timestamps: Sequence[int]  # of each block
    transactions: Sequence[Sequence[str]]  # of each block, as they were signed

    @property
    def size(self) -> int:
        """Its transactions' bytes."""
        return sum(len(raw) // 2 for block in self.transactions for raw in block)


@contextmanager
def changing(registry: Networks, network: str) -> Iterator[SandboxNode]:
    """Change the chain alone: the node within the block takes calls for ``CHANGE_SECONDS``.

    Raises ``UnsupportedChain``, ``ChainUnavailable`` and ``ServiceUnavailable``.
    """
    node = node_of(registry, network)
    with taking_turn(network):
        limited = node.limited_to(CHANGE_SECONDS)
        with refusals_as_failures():
            _finish(limited, Unfinished(network))
            limited.ask("evm_setAutomine", True)  # noqa: FBT003 JSON-RPC; a change that failed may have left it off
        yield limited


def planned(node: SandboxNode, *, first: int, removed: Collection[str], last: Sequence[str]) -> Replacement:
    """Return the blocks from ``first`` on, at the same times, without the transactions with the removed hashes.

    The raw transactions of ``last`` are mined in the newest block. One that needs a removed one, because the same
    account sent it later, waits in the node's pool until that one is mined again.
    """
    head = node.number("eth_blockNumber")
    heights = range(first - 1, head + 1)
    below, *blocks = [node.ask("eth_getBlockByNumber", hex(height), WITHOUT_TRANSACTIONS) for height in heights]
    kept = [[tx_hash for tx_hash in block["transactions"] if tx_hash not in removed] for block in blocks]
    transactions = [[node.ask("eth_getRawTransactionByHash", tx_hash) for tx_hash in hashes] for hashes in kept]
    transactions[-1] += last
    return Replacement(first, below["hash"], [int(block["timestamp"], 16) for block in blocks], transactions)


def replace_blocks(node: SandboxNode, network: str, replacement: Replacement) -> None:
    """Do it; call this while mining is paused."""
    unfinished = Unfinished(network)
    unfinished.keep(asdict(replacement))
    _mine_again(node, replacement)
    unfinished.keep(None)
    log.info("sandbox_reorganised", network=network, first=replacement.first, blocks=len(replacement.timestamps))


def _finish(node: SandboxNode, unfinished: Unfinished) -> None:
    """Replace blocks again if that was interrupted, unless the chain is another one since."""
    kept = unfinished.read()
    if kept is None:
        return
    replacement = Replacement(**kept)
    parent = node.ask("eth_getBlockByNumber", hex(replacement.first - 1), WITHOUT_TRANSACTIONS)
    if parent is not None and parent["hash"] == replacement.parent_hash:
        log.warning("sandbox_replacement_repeated", first=replacement.first)
        try:
            with node.mining_paused():
                _mine_again(node, replacement)
        except NodeRefusedError as error:  # it would be refused each time, and the chain could not be used
            log.error("sandbox_replacement_lost", error=str(error))  # noqa: TRY400 the reason is the node's
    unfinished.keep(None)


def _mine_again(node: SandboxNode, replacement: Replacement) -> None:
    """Remove the blocks from ``first`` on, old ones or those of an attempt before, and mine all of the new ones."""
    for raw in (raw for block in replacement.transactions for raw in block):
        node.ask("anvil_dropTransaction", f"0x{keccak(hexstr=raw).hex()}")  # which an attempt before did not mine
    above = node.number("eth_blockNumber") - replacement.first + 1
    if above > 0:
        node.ask("anvil_rollback", above)
    for timestamp, transactions in zip(replacement.timestamps, replacement.transactions, strict=True):
        node.ask("evm_setNextBlockTimestamp", timestamp)
        fill_payer(node)  # which may have paid by what was lost with the former blocks
        for raw in transactions:
            send_if_valid(node, raw)
        node.ask("evm_mine")
