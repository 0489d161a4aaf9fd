"""One provider's view of the cluster: how far behind its heads are, and how much history it keeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from solders.hash import Hash
from solders.pubkey import Pubkey
from solders.signature import Signature

from dev.solana.bank import Bank
from dev.solana.errors import HistoryNotAvailableError, MinContextSlotError
from dev.solana.history.blocks import FIRST_SLOT, Block
from dev.solana.history.records import Landed
from dev.solana.params import Config

FINAL_AFTER_SLOTS = 32


@dataclass
class Node:
    """A node of the cluster. Several nodes may share a bank; accounts are the bank's latest on all of them."""

    bank: Bank
    lag_slots: int = 0  # how far its latest block is behind the cluster's
    confirmed_after_slots: int = 0
    final_after_slots: int = FINAL_AFTER_SLOTS
    keeps_history: bool = True
    first_available_slot: int = FIRST_SLOT
    pretended_genesis_hash: Hash | None = None  # set only by tests of a provider on another cluster

    @property
    def genesis_hash(self) -> Hash:
        return self.pretended_genesis_hash or self.bank.genesis_hash

    def head(self, commitment: str) -> Block:
        """Return the latest block of a commitment."""
        behind = {
            "processed": 0,
            "confirmed": self.confirmed_after_slots,
            "finalized": self.final_after_slots,
        }
        return self.bank.blocks.head(self.bank.blocks.latest.slot - self.lag_slots - behind[commitment])

    def head_for(self, config: Config) -> Block:
        """Return the head that a call asks for, which must have reached the slot that it names."""
        head = self.head(config.commitment)
        if head.slot < (config.integer("minContextSlot") or 0):
            raise MinContextSlotError(head.slot)
        return head

    def commitment_of(self, landed: Landed) -> str | None:
        """Return how far a transaction is; None if this node has not seen its block."""
        for commitment in ("finalized", "confirmed", "processed"):
            if landed.block.slot <= self.head(commitment).slot:
                return commitment
        return None

    def require_history(self) -> None:
        if not self.keeps_history:
            raise HistoryNotAvailableError

    def find(self, signature: Signature, *, until: Block) -> Landed | None:
        """Return a transaction if this node has its block and the block is not above the given one."""
        landed = self.bank.records.get(signature)
        if landed is None or not self.first_available_slot <= landed.block.slot <= until.slot:
            return None
        return landed

    def newest_first(self, account: Pubkey, *, until: Block) -> Iterator[Landed]:
        """Yield the transactions that name an account, from the blocks that this node has up to the given one."""
        for landed in self.bank.records.newest_first(account):
            if self.first_available_slot <= landed.block.slot <= until.slot:
                yield landed


def with_context(head: Block, value: object) -> dict[str, Any]:
    return {"context": {"apiVersion": "3.1.8", "slot": head.slot}, "value": value}
