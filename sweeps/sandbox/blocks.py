"""The heads of a sandbox chain as partners see them, and what is done to have transactions in its next block."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from sweepapi.evm.chain.chains import Chain
from sweeps.sandbox.node import NodeRefusedError, SandboxNode

WITHOUT_TRANSACTIONS = False
PAYER_COINS = 10_000 * 10**18

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ShownBlock:
    """A block as partners see it."""

    number: int
    hash: str
    timestamp: datetime


@dataclass(frozen=True)
class Heads:
    """The newest block, and the newest that count as safe and as final."""

    head: ShownBlock
    safe: ShownBlock
    final: ShownBlock


def heads_of(node: SandboxNode, chain: Chain) -> Heads:
    """Return the chain's heads; raises ``ChainUnavailable``."""
    head = _shown(node.ask("eth_getBlockByNumber", "latest", WITHOUT_TRANSACTIONS))

    def at(reference: str | int) -> ShownBlock:
        tag = reference if isinstance(reference, str) else hex(max(head.number - reference, 0))
        return _shown(node.ask("eth_getBlockByNumber", tag, WITHOUT_TRANSACTIONS))

    return Heads(head, at(chain.finality.safe), at(chain.finality.final))


def _shown(block: dict[str, Any]) -> ShownBlock:
    return ShownBlock(
        int(block["number"], 16), block["hash"], datetime.fromtimestamp(int(block["timestamp"], 16), tz=UTC)
    )


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
