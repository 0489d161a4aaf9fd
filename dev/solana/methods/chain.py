"""Methods about the cluster itself: heads, blocks, blockhashes, rent and priority fees."""

from typing import Any

from dev.solana.errors import BlockCleanedUpError, BlockNotAvailableError, InvalidParamsError, SlotSkippedError
from dev.solana.history.blocks import BLOCKHASH_BLOCKS
from dev.solana.node import Node, with_context
from dev.solana.params import Params

SLOTS_PER_EPOCH = 432_000
MAX_FEE_ACCOUNTS = 128
MAX_SAMPLES = 720
SAMPLE_SECONDS = 60
_HEAD_OPTIONS = ("commitment", "minContextSlot")


def get_genesis_hash(node: Node, _params: Params) -> str:
    return str(node.genesis_hash)


def get_slot(node: Node, params: Params) -> int:
    return node.head_for(params.config(0, *_HEAD_OPTIONS)).slot


def get_epoch_info(node: Node, params: Params) -> dict[str, int]:
    head = node.head_for(params.config(0, *_HEAD_OPTIONS))
    epoch, index = divmod(head.slot, SLOTS_PER_EPOCH)
    return {
        "absoluteSlot": head.slot,
        "blockHeight": head.height,
        "epoch": epoch,
        "slotIndex": index,
        "slotsInEpoch": SLOTS_PER_EPOCH,
        "transactionCount": len(node.bank.records),
    }


def get_latest_blockhash(node: Node, params: Params) -> dict[str, Any]:
    head = node.head_for(params.config(0, *_HEAD_OPTIONS))
    return with_context(head, {"blockhash": str(head.blockhash), "lastValidBlockHeight": head.last_valid_height})


def get_minimum_balance_for_rent_exemption(node: Node, params: Params) -> int:
    params.config(1, "commitment")
    return node.bank.svm.minimum_balance_for_rent_exemption(params.integer(0))


def get_recent_prioritization_fees(node: Node, params: Params) -> list[dict[str, int]]:
    """Return the fee of each recent block, whatever accounts are asked about."""
    if params.has(0):
        params.keys(0, at_most=MAX_FEE_ACCOUNTS)
    recent = node.bank.blocks.until(node.head("processed").slot, BLOCKHASH_BLOCKS)
    return [{"slot": block.slot, "prioritizationFee": block.priority_fee} for block in recent]


def get_recent_performance_samples(node: Node, params: Params) -> list[dict[str, int]]:
    """Return how many slots began in each of the last minutes, the newest first, as if all had been as now."""
    limit = params.integer(0) if params.has(0) else MAX_SAMPLES
    if limit > MAX_SAMPLES:
        raise InvalidParamsError(f"Invalid limit; max {MAX_SAMPLES}")
    slots = round(SAMPLE_SECONDS / node.bank.slot_seconds)
    newest = node.head("processed").slot
    return [
        {
            "slot": newest - slots * number,
            "numSlots": slots,
            "numTransactions": 0,
            "numNonVoteTransactions": 0,
            "samplePeriodSecs": SAMPLE_SECONDS,
        }
        for number in range(limit)
    ]


def get_first_available_block(node: Node, _params: Params) -> int:
    return node.first_available_slot


def get_block(node: Node, params: Params) -> dict[str, Any]:
    """Return a block without its transactions, the only form that is supported here."""
    node.require_history()
    slot = params.integer(0)
    options = ("transactionDetails", "rewards", "encoding", "maxSupportedTransactionVersion", "commitment")
    config = params.config(1, *options)
    if config.text("transactionDetails") != "none":
        raise InvalidParamsError("only `transactionDetails` none is supported by the local cluster")
    config.require_history_commitment()
    if slot > node.head(config.commitment).slot:
        raise BlockNotAvailableError(slot)
    if slot < node.first_available_slot:
        raise BlockCleanedUpError(slot, node.first_available_slot)
    block = node.bank.blocks.at(slot)
    if block is None:
        raise SlotSkippedError(slot)
    return {
        "blockHeight": block.height,
        "blockTime": block.time,
        "blockhash": str(block.blockhash),
        "parentSlot": block.parent_slot,
        "previousBlockhash": str(block.previous_blockhash),
    }
