"""The transactions that landed, by signature and by account: a node's history, of which LiteSVM keeps nothing."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from dev.solana.history.addresses import Keys
from dev.solana.history.balances import Balances
from dev.solana.history.blocks import Block
from dev.solana.history.outcome import Outcome


@dataclass(frozen=True)
class Landed:
    """A transaction in a block, successful or not."""

    transaction: VersionedTransaction
    block: Block
    keys: Keys
    outcome: Outcome
    before: Balances
    after: Balances

    @property
    def signature(self) -> Signature:
        return self.transaction.signatures[0]


class Records:
    """Every landed transaction in the order of its block, and those that were dropped with their block."""

    def __init__(self) -> None:
        self._landed: dict[Signature, Landed] = {}
        self._by_account: dict[Pubkey, list[Landed]] = defaultdict(list)
        self._dropped: dict[Signature, Landed] = {}

    def __len__(self) -> int:
        return len(self._landed)

    def add(self, landed: Landed) -> None:
        self._landed[landed.signature] = landed
        for key in set(landed.keys.all):
            self._by_account[key].append(landed)

    def get(self, signature: Signature) -> Landed | None:
        return self._landed.get(signature)

    def newest_first(self, account: Pubkey) -> Iterator[Landed]:
        """Yield the transactions that name an account."""
        return reversed(self._by_account.get(account, []))

    def dropped(self, signature: Signature) -> Landed | None:
        return self._dropped.get(signature)

    def drop(self, signature: Signature) -> None:
        landed = self._dropped[signature] = self._landed.pop(signature)
        for key in set(landed.keys.all):
            self._by_account[key].remove(landed)

    def restore(self, signature: Signature, block: Block) -> None:
        """Record a dropped transaction again, in another block."""
        self.add(replace(self._dropped.pop(signature), block=block))
