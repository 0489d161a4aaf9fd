"""Methods of this cluster alone, by which chaos makes happen what a real cluster does by itself."""

from dev.solana.errors import InvalidParamsError
from dev.solana.history.blocks import BLOCKHASH_BLOCKS
from dev.solana.node import Node
from dev.solana.params import Params


def expire_blockhashes(node: Node, _params: Params) -> int:
    """Make every blockhash so far too old, and that final; returns the latest slot."""
    node.bank.advance(BLOCKHASH_BLOCKS + 1 + node.final_after_slots)
    return node.bank.blocks.latest.slot


def drop_transaction(node: Node, params: Params) -> None:
    """Remove a transaction from the records, as when its fork is abandoned; sent again, it lands again."""
    signature = params.signature(0)
    if node.bank.records.get(signature) is None:
        raise InvalidParamsError("no such transaction")
    node.bank.drop(signature)
