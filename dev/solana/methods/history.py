"""Methods that read landed transactions: by address, by signature, and how far each is."""

import base64
from typing import Any

from solders.message import MessageV0
from solders.signature import Signature

from dev.solana.bank import Landed
from dev.solana.blocks import BLOCKHASH_BLOCKS, Block
from dev.solana.errors import InvalidParamsError, InvalidRequestError, UnsupportedVersionError
from dev.solana.node import Node, with_context
from dev.solana.params import Params
from dev.solana.params import signature as signature_of

MAX_SIGNATURES = 1000
MAX_STATUSES = 256


def get_signatures_for_address(node: Node, params: Params) -> list[dict[str, Any]]:
    """Return the signatures of transactions that name an account, newest first."""
    node.require_history()
    address = params.key(0)
    config = params.config(1, "limit", "before", "until", "commitment", "minContextSlot")
    limit = config.integer("limit")
    limit = MAX_SIGNATURES if limit is None else limit
    if not 0 < limit <= MAX_SIGNATURES:
        raise InvalidParamsError(f"Invalid limit; max {MAX_SIGNATURES}")
    before, until = config.signature("before"), config.signature("until")
    _ = config.history_commitment
    found = [each for each in _page(node, node.head_for(config), before, until) if address in each.keys.all]
    return [_signature_info(node, each) for each in found[:limit]]


def _page(node: Node, head: Block, before: Signature | None, until: Signature | None) -> list[Landed]:
    """Return what landed before one transaction and after another; nothing if the first of them is unknown."""
    page = list(node.newest_first(until=head))
    signatures = [each.signature for each in page]
    start = 0 if before is None else signatures.index(before) + 1 if before in signatures else len(page)
    end = signatures.index(until) if until in signatures else len(page)
    return page[start:end]


def _signature_info(node: Node, landed: Landed) -> dict[str, Any]:
    return {
        "signature": str(landed.signature),
        "slot": landed.block.slot,
        "err": landed.outcome.err,
        "memo": None,
        "blockTime": landed.block.time,
        "confirmationStatus": node.commitment_of(landed),
    }


def get_signature_statuses(node: Node, params: Params) -> dict[str, Any]:
    """Return where each transaction is; old ones only if asked to search history."""
    signatures = [signature_of(text) for text in params.texts(0, at_most=MAX_STATUSES)]
    searches = params.config(1, "searchTransactionHistory").flag("searchTransactionHistory")
    if searches:
        node.require_history()
    head = node.head("processed")
    statuses = []
    for signature in signatures:
        landed = node.find(signature, until=head)
        recent = landed is not None and landed.block.slot > head.slot - BLOCKHASH_BLOCKS
        statuses.append(_status(node, landed) if landed and (searches or recent) else None)
    return with_context(head, statuses)


def _status(node: Node, landed: Landed) -> dict[str, Any]:
    commitment = node.commitment_of(landed)
    return {
        "slot": landed.block.slot,
        "confirmations": None if commitment == "finalized" else node.head("processed").slot - landed.block.slot,
        "err": landed.outcome.err,
        "status": _result(landed),
        "confirmationStatus": commitment,
    }


def get_transaction(node: Node, params: Params) -> dict[str, Any] | None:
    node.require_history()
    signature = params.signature(0)
    config = params.config(1, "encoding", "commitment", "maxSupportedTransactionVersion")
    if config.text("encoding") != "base64":
        raise InvalidRequestError("only the encoding base64 is supported by the local cluster")
    landed = node.find(signature, until=node.head(config.history_commitment))
    if landed is None:
        return None
    version = 0 if isinstance(landed.transaction.message, MessageV0) else "legacy"
    if version == 0 and config.integer("maxSupportedTransactionVersion") is None:
        raise UnsupportedVersionError(version)
    return {
        "slot": landed.block.slot,
        "blockTime": landed.block.time,
        "transaction": [base64.b64encode(bytes(landed.transaction)).decode(), "base64"],
        "version": version,
        "meta": _meta(landed),
    }


def _meta(landed: Landed) -> dict[str, Any]:
    outcome = landed.outcome
    meta = {
        "err": outcome.err,
        "status": _result(landed),
        "fee": outcome.fee,
        "preBalances": landed.before.lamports,
        "postBalances": landed.after.lamports,
        "preTokenBalances": landed.before.tokens,
        "postTokenBalances": landed.after.tokens,
        "innerInstructions": outcome.inner,
        "logMessages": outcome.logs,
        "rewards": [],
        "loadedAddresses": {
            "writable": [str(key) for key in landed.keys.writable],
            "readonly": [str(key) for key in landed.keys.readonly],
        },
        "computeUnitsConsumed": outcome.units,
    }
    return meta if outcome.return_data is None else {**meta, "returnData": outcome.return_data}


def _result(landed: Landed) -> dict[str, Any]:
    return {"Ok": None} if landed.outcome.err is None else {"Err": landed.outcome.err}
