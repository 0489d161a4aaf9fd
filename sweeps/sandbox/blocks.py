"""Replaces the newest blocks of a sandbox chain, and mines what they held again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from sweepapi.evm.chains import Chain
from sweeps.sandbox.node import NodeRefusedError, SandboxNode

WITHOUT_TRANSACTIONS = False
PAYER_COINS = 10_000 * 10**18

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SeenBlock:
    """A block as partners see it."""

    number: int
    hash: str
    timestamp: datetime


@dataclass(frozen=True)
class Heads:
    """The newest block, and the newest that count as safe and as final."""

    head: SeenBlock
    safe: SeenBlock
    final: SeenBlock


def heads_of(node: SandboxNode, chain: Chain) -> Heads:
    """Return the chain's heads; raises ``ChainUnavailable``."""
    head = _seen(node.ask("eth_getBlockByNumber", "latest", WITHOUT_TRANSACTIONS))

    def at(reference: str | int) -> SeenBlock:
        tag = reference if isinstance(reference, str) else hex(max(head.number - reference, 0))
        return _seen(node.ask("eth_getBlockByNumber", tag, WITHOUT_TRANSACTIONS))

    return Heads(head, at(chain.finality.safe), at(chain.finality.final))


def _seen(block: dict[str, Any]) -> SeenBlock:
    return SeenBlock(
        int(block["number"], 16), block["hash"], datetime.fromtimestamp(int(block["timestamp"], 16), tz=UTC)
    )


def replace_blocks(node: SandboxNode, *, first: int, removed: Collection[str], last: Sequence[str]) -> None:
    """Mine the blocks from ``first`` on again, at the same times, without the transactions with the removed hashes.

    The raw transactions of ``last`` are mined in the newest block. Call it while mining is paused. One that needs a
    removed one, because the same account sent it later, waits in the node's pool until that one is mined again.
    """
    head = node.number("eth_blockNumber")
    blocks = [node.ask("eth_getBlockByNumber", hex(i), WITHOUT_TRANSACTIONS) for i in range(first, head + 1)]
    kept = [[tx_hash for tx_hash in block["transactions"] if tx_hash not in removed] for block in blocks]
    mined_again = [[node.ask("eth_getRawTransactionByHash", tx_hash) for tx_hash in hashes] for hashes in kept]
    mined_again[-1] += last
    node.ask("anvil_rollback", len(blocks))
    for block, transactions in zip(blocks, mined_again, strict=True):
        node.ask("evm_setNextBlockTimestamp", int(block["timestamp"], 16))
        fill_payer(node)  # which may have paid by what was lost with the former blocks
        for raw in transactions:
            send_if_valid(node, raw)
        node.ask("evm_mine")
    log.info("sandbox_reorganised", first=first, head=head, removed=sorted(removed))


def fill_payer(node: SandboxNode) -> str:
    """Give coins to the node's first account, which pays for funding, and return it: anyone may know its key."""
    payer = str(node.ask("eth_accounts")[0])
    if node.number("eth_getBalance", payer, "latest") < PAYER_COINS // 2:
        node.ask("anvil_setBalance", payer, hex(PAYER_COINS))
    return payer


def send_if_valid(node: SandboxNode, raw: str) -> bool:
    """Give the node a transaction, and return whether it took it."""
    try:
        node.ask("eth_sendRawTransaction", raw)
    except NodeRefusedError as error:
        log.info("sandbox_transaction_refused", error=str(error))
        return False
    return True
