"""Methods of the local cluster alone, by which tests and the demo make happen what a real cluster does by itself."""

from solders.account import Account
from solders.hash import Hash

from dev.solana.errors import InvalidParamsError
from dev.solana.history.blocks import BLOCKHASH_BLOCKS
from dev.solana.node import Node
from dev.solana.params import Params, decode_base64, public_key


def advance(node: Node, params: Params) -> int:
    """Produce empty blocks, after slots without one if a second number is given; returns the latest slot."""
    skipped_slots = params.integer(1) if params.has(1) else 0
    node.bank.advance(params.integer(0), skipped_slots=skipped_slots)
    return node.bank.blocks.latest.slot


def expire_blockhashes(node: Node, _params: Params) -> int:
    """Make every blockhash so far too old, and that final; returns the latest slot."""
    node.bank.advance(BLOCKHASH_BLOCKS + 1 + node.final_after_slots)
    return node.bank.blocks.latest.slot


def finalize(node: Node, _params: Params) -> int:
    """Make every block so far final; returns the latest slot."""
    node.bank.advance(node.final_after_slots)
    return node.bank.blocks.latest.slot


def set_account(node: Node, params: Params) -> None:
    """Write an account in the form in which getAccountInfo returns it."""
    key, fields = params.key(0), params.record(1)
    match fields:
        case {"lamports": int(lamports), "owner": str(owner), "data": [str(data), "base64"]}:
            node.bank.set_account(key, Account(lamports, decode_base64(data), public_key(owner)))
        case _:
            raise InvalidParamsError("expected lamports, owner and data with the encoding base64")


def drop_transaction(node: Node, params: Params) -> None:
    """Remove a transaction from the records, as when its fork is abandoned; sent again, it lands again."""
    signature = params.signature(0)
    if node.bank.records.get(signature) is None:
        raise InvalidParamsError("no such transaction")
    node.bank.drop(signature)


def set_lag(node: Node, params: Params) -> None:
    """Keep the heads of this node this many slots behind."""
    node.lag_slots = params.integer(0)


def set_history(node: Node, params: Params) -> None:
    """Let this node answer from history, or refuse to."""
    node.keeps_history = params.flag(0)


def set_genesis_hash(node: Node, params: Params) -> None:
    """Let this node pretend to be on another cluster."""
    try:
        node.pretended_genesis_hash = Hash.from_string(params.text(0))
    except ValueError as error:
        raise InvalidParamsError(f"Invalid param: {error}") from error


def set_priority_fee(node: Node, params: Params) -> None:
    """Set the fee that coming blocks report, in micro-lamports per compute unit."""
    node.bank.priority_fee = params.integer(0)
