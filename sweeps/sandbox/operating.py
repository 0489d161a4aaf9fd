"""Changes a sandbox chain for a partner: mines, moves the clock, sends transactions, and does what these force."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils import timezone
from eth_utils.crypto import keccak

from sweepapi.errors import FieldError, InvalidRequest, RateLimited
from sweepapi.networks import Networks
from sweeps.sandbox.blocks import Heads, heads_of, send_if_valid
from sweeps.sandbox.node import NodeRefusedError, SandboxNode, refusals_as_failures
from sweeps.sandbox.outcomes import SCRIPT, ForcedOutcome, outcome_of
from sweeps.sandbox.replacing import changing, planned, replace_blocks
from sweeps.sandbox.script import MAX_SCRIPTED, Script, Scripted
from sweeps.store.leases import make_network_due

MAX_BLOCKS = 64
MAX_SECONDS = 3_600
MAX_AHEAD = timedelta(days=365)
MAX_SECONDS_PER_DAY = 86_400  # of each partner, so that none brings the clock to its end for all in minutes
LATE_FINALITY_MOVES = 2


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
                send_if_valid(node, one.raw)
                script.drop(one)
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
        if len(script.read()) >= MAX_SCRIPTED:
            message = "Too many of your transactions wait for an advance of the sandbox."
            raise NodeRefusedError({"code": -32000, "message": message})
        is_held = outcome is ForcedOutcome.DELAYED_MINING
        tx_hash = f"0x{keccak(hexstr=raw).hex()}" if is_held else str(node.ask("eth_sendRawTransaction", raw))
        script.keep(Scripted(tx_hash, raw, outcome, time.time(), is_held))
        return tx_hash


def _require_daily_limit(script: Script, seconds: int) -> None:
    now = datetime.now(UTC)
    if script.count_seconds(seconds, now.date()) > MAX_SECONDS_PER_DAY:
        script.count_seconds(-seconds, now.date())
        message = f"You can move the clock by {MAX_SECONDS_PER_DAY} seconds a day (UTC) at most."
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        raise RateLimited(message, retry_after_seconds=math.ceil((midnight - now).total_seconds()))


def _reorganise(node: SandboxNode, network: str, script: Script, heads: Heads) -> None:
    """Replace the blocks of the transactions that want that, unless they are final."""
    removed: list[Scripted] = []
    moved: list[Scripted] = []
    heights: list[int] = []
    for one in script.read():
        height = None if one.is_held else _height(node, one)
        if height is None:
            continue
        if height <= heads.final.number:
            script.drop(one)
            continue
        (moved if one.outcome is ForcedOutcome.LATE_FINALITY else removed).append(one)
        heights.append(height)
    # What is in the newest block already can't be moved there.
    replacement = None
    if removed or any(height < heads.head.number for height in heights):
        hashes = {one.tx_hash for one in (*removed, *moved)}
        replacement = planned(node, first=min(heights), removed=hashes, last=[one.raw for one in moved])
    _note(script, removed, moved)  # before, because the next change does the rest if this one is interrupted
    if replacement is not None:
        replace_blocks(node, network, replacement)


def _note(script: Script, removed: Sequence[Scripted], moved: Sequence[Scripted]) -> None:
    for one in removed:
        if one.outcome is ForcedOutcome.REORGANISED:
            script.keep(replace(one, is_held=True))
        else:
            script.drop(one)
    for one in moved:
        if one.moves + 1 < LATE_FINALITY_MOVES:
            script.keep(replace(one, moves=one.moves + 1))
        else:
            script.drop(one)


def _height(node: SandboxNode, one: Scripted) -> int | None:
    """Return the height of the block with the transaction, None if it waits in the node's pool."""
    receipt = node.ask("eth_getTransactionReceipt", one.tx_hash)
    return None if receipt is None else int(receipt["blockNumber"], 16)
