"""Methods that read landed transactions: by address, by signature, and how far each is."""

import base64
from typing import Any

from solders.signature import Signature

from dev.solana.errors import InvalidParamsError, UnsupportedVersionError
from dev.solana.history.blocks import BLOCKHASH_BLOCKS
from dev.solana.history.records import Landed
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
    config.require_history_commitment()
    head = node.head_for(config)
    found = _between(node, list(node.newest_first(address, until=head)), before, until)
    return [_signature_info(node, each) for each in found[:limit]]


def _between(node: Node, newest_first: list[Landed], before: Signature | None, until: Signature | None) -> list[Landed]:
    """Return what is older than one transaction, which must exist, and newer than another; neither need be listed."""
    if before is not None:
        start = node.bank.records.get(before)
        newest_first = [each for each in newest_first if start and each.block.slot < start.block.slot]
    end = node.bank.records.get(until) if until else None
    return newest_first if end is None else [each for each in newest_first if each.block.slot > end.block.slot]


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
    config.require_history_commitment()
    if config.text("encoding") != "base64":
        raise InvalidParamsError("only the encoding base64 is supported by the local cluster")
    landed = node.find(signature, until=node.head(config.commitment))
    if landed is None:
        return None
    version, newest = landed.transaction.version(), config.integer("maxSupportedTransactionVersion")
    if isinstance(version, int) and (newest is None or version > newest):
        raise UnsupportedVersionError(version)
    return {
        "slot": landed.block.slot,
        "blockTime": landed.block.time,
        "transaction": [base64.b64encode(bytes(landed.transaction)).decode(), "base64"],
        "version": version if isinstance(version, int) else "legacy",
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
