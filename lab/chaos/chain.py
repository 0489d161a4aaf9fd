"""The local chain as the harness controls it: it mines at counted points, reorganises, and moves the chain's clock.

One lock orders it: a reorg cannot come between reading an account's nonce and sending the transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import RLock
from typing import Any

from dev.chain.rpc import Rpc
from dev.processes.errors import NodeError

OFF, WITH_TRANSACTIONS, WITHOUT_TRANSACTIONS = False, True, False
HELD_BACK_SHARE = 0.2  # of the transactions that are the last of their senders
LATEST_SHIFT_BLOCKS = 3


class ChaosChain:
    """A client of the node, past all faults."""

    def __init__(self, url: str) -> None:
        self.rpc = Rpc(url)
        self._lock = RLock()
        self.rpc.call("evm_setAutomine", OFF)
        self._kept = 0
        self.keep_blocks()

    @contextmanager
    def undisturbed(self) -> Iterator[Rpc]:
        with self._lock:
            yield self.rpc

    def height(self) -> int:
        with self._lock:
            return int(self.rpc.call("eth_blockNumber"), 16)

    def time(self) -> int:
        with self._lock:
            return int(self.rpc.call("eth_getBlockByNumber", "latest", WITHOUT_TRANSACTIONS)["timestamp"], 16)

    def mine(self, blocks: int = 1) -> None:
        with self._lock:
            self.rpc.call("anvil_mine", hex(blocks))

    def warp(self, seconds: int) -> int:
        """Advance the chain's clock, for good: a reorg would set it back; returns the height of the first block."""
        with self._lock:
            self.rpc.call("evm_increaseTime", seconds)
            self.mine()
            return self.keep_blocks()

    def keep_blocks(self) -> int:
        """Never replace the blocks up to now; returns their height."""
        self._kept = self.height()
        return self._kept

    def reorganise(self, depth: int, random: Random) -> dict[str, Any]:
        """Replace the newest blocks by as many, in which most of their transactions are mined again, some later.

        Transactions that are held back are forgotten; the driver may send them again.
        """
        with self._lock:
            head = self.height()
            depth = min(depth, head - self._kept)
            if depth < 1:
                return {"depth": 0}
            dropped = self._transactions(head - depth + 1, head)
            held = _held_back(dropped, random)
            pairs, at = [], 0
            for offset, tx in dropped:
                if tx["hash"] not in held:
                    at = min(max(at, offset + random.randrange(LATEST_SHIFT_BLOCKS)), depth - 1)
                    pairs.append([self.rpc.call("debug_getRawTransaction", tx["hash"]), at])
            raw = {tx_hash: self.rpc.call("debug_getRawTransaction", tx_hash) for tx_hash in held}
            self.rpc.call("anvil_reorg", depth, pairs)
            return {"depth": depth, "height": head, "transactions": len(dropped), "held": raw}

    def send_again(self, raw: str) -> bool:
        """Send a transaction that a reorg dropped; False if its account has used the nonce meanwhile."""
        with self._lock:
            try:
                self.rpc.call("eth_sendRawTransaction", raw)
            except NodeError:
                return False
            return True

    def _transactions(self, first: int, last: int) -> list[tuple[int, dict[str, Any]]]:
        calls = [("eth_getBlockByNumber", [hex(number), WITH_TRANSACTIONS]) for number in range(first, last + 1)]
        return [(offset, tx) for offset, block in enumerate(self.rpc.batch(calls)) for tx in block["transactions"]]


def _held_back(dropped: list[tuple[int, dict[str, Any]]], random: Random) -> list[str]:
    """Choose some of those that no other transaction of their sender follows."""
    last = {tx["from"]: tx["hash"] for _, tx in dropped}
    return [tx_hash for tx_hash in last.values() if random.random() < HELD_BACK_SHARE]
