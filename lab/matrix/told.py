"""What a lie is about: a sweep of the laboratory's chain, its transaction, and what an honest node shows of it."""

import json
from dataclasses import dataclass
from typing import Any

from lab.bench.sweeps.identity import transaction_hash
from lab.bench.sweeps.receipts import Mined, Original, block_hash

OTHER_HASH = "0x" + "ab" * 32


@dataclass(frozen=True)
class Told:
    """A transaction, whether it was mined or not: some lies make it up."""

    original: Original
    mined: Mined

    @property
    def tx_hash(self) -> str:
        return transaction_hash(self.mined.number)

    @property
    def height(self) -> int:
        return self.mined.height

    @property
    def block_hash(self) -> str:
        return block_hash(self.mined.height).decode()

    @property
    def nonce(self) -> str:
        """The nonce of its authorization as a topic."""
        return self.original.nonce_of(self.mined)

    @property
    def receipt(self) -> dict[str, Any]:
        """Its receipt if it was mined."""
        receipt: dict[str, Any] = json.loads(self.original.receipt_of(self.mined))
        return receipt

    @property
    def event(self) -> dict[str, Any]:
        """The log that says what it executed, if it was mined."""
        event: dict[str, Any] = json.loads(self.original.event_of(self.mined))
        return event

    def is_ours(self, log: dict[str, Any]) -> bool:
        """Whether a log says what was executed."""
        topics: list[str] = log["topics"]
        return topics[1:2] == [self.nonce]
