"""The blocks of the local cluster: their slots, heights and blockhashes, none of which LiteSVM keeps."""

import time
from bisect import bisect_right
from dataclasses import dataclass

from solders.hash import Hash

# As on mainnet, a block's height is far below its slot: code that takes one for the other fails a test.
FIRST_SLOT = 435_888_000
FIRST_HEIGHT = 413_977_000
FIRST_BLOCKS = 64  # so that even a fresh cluster has a final block, and a lagging node another head than its first
BLOCKHASH_BLOCKS = 150  # how many blocks later a transaction with a blockhash may still land


@dataclass(frozen=True)
class Block:
    slot: int
    height: int
    parent_slot: int
    blockhash: Hash
    previous_blockhash: Hash
    time: int
    priority_fee: int  # the lowest one paid in it, in micro-lamports per compute unit

    @property
    def last_valid_height(self) -> int:
        """The height of the last block that accepts a transaction with this blockhash."""
        return self.height + BLOCKHASH_BLOCKS


class Blocks:
    """Every block since the start of the cluster."""

    def __init__(self, genesis_hash: Hash) -> None:
        first = Block(
            slot=FIRST_SLOT,
            height=FIRST_HEIGHT,
            parent_slot=FIRST_SLOT - 1,
            blockhash=_hash_after(genesis_hash, FIRST_SLOT),
            previous_blockhash=genesis_hash,
            time=int(time.time()),
            priority_fee=0,
        )
        self._blocks = [first]
        self._by_hash = {first.blockhash: first}
        for _ in range(FIRST_BLOCKS):
            self.add(skipped_slots=0, priority_fee=0)

    @property
    def latest(self) -> Block:
        return self._blocks[-1]

    def add(self, *, skipped_slots: int, priority_fee: int) -> Block:
        """Produce the next block; a skipped slot has no block and adds no height."""
        parent = self.latest
        slot = parent.slot + 1 + skipped_slots
        block = Block(
            slot=slot,
            height=parent.height + 1,
            parent_slot=parent.slot,
            blockhash=_hash_after(parent.blockhash, slot),
            previous_blockhash=parent.blockhash,
            time=int(time.time()),
            priority_fee=priority_fee,
        )
        self._blocks.append(block)
        self._by_hash[block.blockhash] = block
        return block

    def head(self, slot: int) -> Block:
        """Return the last block at or before a slot, and the first block of all if there is none."""
        return self._blocks[max(bisect_right(self._blocks, slot, key=_slot) - 1, 0)]

    def at(self, slot: int) -> Block | None:
        """Return the block of a slot; None if the slot was skipped or lies ahead."""
        block = self.head(slot)
        return block if block.slot == slot else None

    def of_hash(self, blockhash: Hash) -> Block | None:
        return self._by_hash.get(blockhash)

    def until(self, slot: int, count: int) -> list[Block]:
        """Return the last blocks at or before a slot, oldest first."""
        end = bisect_right(self._blocks, slot, key=_slot)
        return self._blocks[max(end - count, 0) : end]


def _slot(block: Block) -> int:
    return block.slot


def _hash_after(parent: Hash, slot: int) -> Hash:
    return Hash.hash(bytes(parent) + slot.to_bytes(8, "little"))
