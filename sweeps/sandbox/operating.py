"""Changes a sandbox chain for a partner: mines, moves the clock, sends transactions, and does what these force."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from django.utils import timezone
from eth_utils.crypto import keccak

from sweepapi.errors import FieldError, InvalidRequest, RateLimited
from sweepapi.networks import Networks
from sweeps.models import ScriptedTransaction
from sweeps.sandbox.blocks import Heads, heads_of, send_if_valid
from sweeps.sandbox.node import NodeRefusedError, SandboxNode, refusals_as_failures
from sweeps.sandbox.outcomes import SCRIPT, ForcedOutcome, outcome_of
from sweeps.sandbox.replacing import MAX_REPLACED_BYTES, changing, planned, replace_blocks
from sweeps.sandbox.script import Script
from sweeps.store.leases import make_network_due

MAX_BLOCKS = 64
MAX_SECONDS = 3_600
MAX_AHEAD = timedelta(days=365)
MAX_SECONDS_PER_DAY = 86_400  # of each partner, so that none brings the clock to its end for all in minutes
LATE_FINALITY_MOVES = 2

log = structlog.get_logger(__name__)


def advance(registry: Networks, network: str, partner_id: UUID, *, blocks: int, seconds: int) -> Heads:
    """Do what the partner's transactions force, move the clock, mine these blocks, and return the chain's heads.

    Raises ``UnsupportedChain``, ``InvalidRequest`` if the clock would be too far ahead, ``RateLimited`` if the partner
    moved it too often today, ``ChainUnavailable`` and ``ServiceUnavailable``.
    """
    chain, script = registry.chain(network), Script(network, partner_id)
    with changing(registry, network) as node, refusals_as_failures():
        before = heads_of(node, chain)
        if before.head.timestamp + timedelta(seconds=seconds) > timezone.now() + MAX_AHEAD:
            problem = FieldError("seconds", "out_of_range", f"The clock can be {MAX_AHEAD.days} days ahead at most.")
            raise InvalidRequest(details=[problem])
        _require_daily_limit(script, seconds)
        held = [one for one in script.read() if one.is_held]
        with node.mining_paused():
            _reorganise(node, network, script, before)
            if seconds:
                node.ask("evm_increaseTime", seconds)
            for one in held:
                send_if_valid(node, one.signed)
                one.delete()
            node.ask("anvil_mine", hex(blocks))
        after = heads_of(node, chain)
    make_network_due(network, at=timezone.now())  # the worker plans its checks by the server's clock
    return after


def send(registry: Networks, network: str, partner_id: UUID, raw: str) -> str:
    """Give a signed transaction to the chain, or keep it back if it says so, and return its hash.

    Raises ``NodeRefusedError``, and what ``advance`` raises.
    """
    script = Script(network, partner_id)
    token = registry.chain(network).sandbox_tokens.get(SCRIPT)
    outcome = outcome_of(bytes.fromhex(raw[2:]), token) if token else None
    with changing(registry, network) as node:
        if outcome is None:
            return str(node.ask("eth_sendRawTransaction", raw))
        script.require_room(raw)
        is_held = outcome is ForcedOutcome.DELAYED_MINING
        tx_hash = _checked(node, raw) if is_held else str(node.ask("eth_sendRawTransaction", raw))
        script.keep(tx_hash, raw, outcome, is_held=is_held)
        return tx_hash


def _checked(node: SandboxNode, raw: str) -> str:
    """Have the node refuse a transaction that it would not mine, and return the hash of one that it would."""
    with node.mining_paused():
        tx_hash = str(node.ask("eth_sendRawTransaction", raw))
        node.ask("anvil_dropTransaction", tx_hash)
    if tx_hash != f"0x{keccak(hexstr=raw).hex()}":
        raise NodeRefusedError({"code": -32602, "message": "Bytes follow the transaction."})
    return tx_hash


def _require_daily_limit(script: Script, seconds: int) -> None:
    now = datetime.now(UTC)
    if not script.count_seconds(seconds, now.date(), at_most=MAX_SECONDS_PER_DAY):
        message = f"You can move the clock by {MAX_SECONDS_PER_DAY} seconds a day (UTC) at most."
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        raise RateLimited(message, retry_after_seconds=math.ceil((midnight - now).total_seconds()))


def _reorganise(node: SandboxNode, network: str, script: Script, heads: Heads) -> None:
    """Replace the blocks of the transactions that want that, unless they are final."""
    removed: list[ScriptedTransaction] = []
    moved: list[ScriptedTransaction] = []
    heights: list[int] = []
    for one in script.read():
        height = None if one.is_held else _height(node, one)
        if height is None:
            continue
        if height <= heads.final.number:
            one.delete()
            continue
        (moved if one.outcome == ForcedOutcome.LATE_FINALITY else removed).append(one)
        heights.append(height)
    # What is in the newest block already can't be moved there.
    replacement = None
    if removed or any(height < heads.head.number for height in heights):
        hashes = {one.tx_hash for one in (*removed, *moved)}
        replacement = planned(node, first=min(heights), removed=hashes, last=[one.signed for one in moved])
        if replacement.size > MAX_REPLACED_BYTES:  # as if the blocks were final
            log.warning("sandbox_replacement_too_large", network=network, bytes=replacement.size)
            for one in (*removed, *moved):
                one.delete()
            return
    _note(removed, moved)  # before, because the next change does the rest if this one is interrupted
    if replacement is not None:
        replace_blocks(node, network, replacement)


def _note(removed: Sequence[ScriptedTransaction], moved: Sequence[ScriptedTransaction]) -> None:
    for one in removed:
        if one.outcome == ForcedOutcome.REORGANISED:
            one.is_held = True
            one.save()
        else:
            one.delete()
    for one in moved:
        one.moves += 1
        if one.moves < LATE_FINALITY_MOVES:
            one.save()
        else:
            one.delete()


def _height(node: SandboxNode, one: ScriptedTransaction) -> int | None:
    """Return the height of the block with the transaction, None if it waits in the node's pool."""
    receipt = node.ask("eth_getTransactionReceipt", one.tx_hash)
    return None if receipt is None else int(receipt["blockNumber"], 16)
