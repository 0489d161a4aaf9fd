"""Receipts of copied sweeps, rendered from the original's by putting other values into its JSON text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from lab.bench.sweeps.identity import NONCES_APART, transaction_hash
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC

_PLACEHOLDER = re.compile(rb"(@[a-z]+(?: [0-9]+)?@)")


@dataclass(frozen=True)
class Mined:
    """Where a copy was executed."""

    number: int
    height: int
    position: int  # of its transaction in the block


@dataclass(frozen=True)
class Original:
    """The receipt of the original, cut where copies differ."""

    nonce: int
    contract: str  # in lower case
    log_count: int
    receipt: Sequence[bytes]
    event: Sequence[bytes]  # the contract's log in it that says what was executed
    emitted: Sequence[bytes]  # all logs of the contract in it, with commas between them

    @classmethod
    def of(cls, receipt: Mapping[str, Any], nonce: int) -> Self:
        """Cut a receipt as a node returned it."""
        logs = [
            log | {"logIndex": f"@index {i}@", "transactionIndex": "@position@"}
            for i, log in enumerate(receipt["logs"])
        ]
        text = json.dumps({**receipt, "logs": logs, "transactionIndex": "@position@"})
        for value, placeholder in (
            (receipt["transactionHash"], "transaction"),
            (receipt["blockHash"], "hash"),
            (receipt["blockNumber"], "height"),
            (f"0x{nonce:064x}", "nonce"),
        ):
            text = text.replace(f'"{value}"', f'"@{placeholder}@"')
        contract = receipt["to"].lower()
        emitted = [log for log in json.loads(text)["logs"] if log["address"].lower() == contract]
        (event,) = (log for log in emitted if log["topics"][0] == EXECUTED_TOPIC)
        parts = (text, json.dumps(event), ",".join(map(json.dumps, emitted)))
        return cls(nonce, contract, len(logs), *(_PLACEHOLDER.split(part.encode()) for part in parts))

    def receipt_of(self, mined: Mined) -> bytes:
        """Return the JSON of a copy's receipt."""
        return self._filled(self.receipt, mined)

    def event_of(self, mined: Mined) -> bytes:
        """Return the JSON of the log that says that a copy was executed."""
        return self._filled(self.event, mined)

    def emitted_by(self, mined: Mined) -> bytes:
        """Return the JSON of all logs that the contract emitted for a copy, without the array's brackets."""
        return self._filled(self.emitted, mined)

    def nonce_of(self, mined: Mined) -> str:
        """Return the nonce of a copy's authorization as a topic."""
        return f"0x{self.nonce + NONCES_APART * mined.number:064x}"

    def _filled(self, parts: Sequence[bytes], mined: Mined) -> bytes:
        values = {
            b"@transaction@": transaction_hash(mined.number).encode(),
            b"@hash@": block_hash(mined.height),
            b"@height@": b"0x%x" % mined.height,
            b"@position@": b"0x%x" % mined.position,
            b"@nonce@": self.nonce_of(mined).encode(),
        }
        first_index = mined.position * self.log_count
        for i in range(self.log_count):
            values[b"@index %d@" % i] = b"0x%x" % (first_index + i)
        return b"".join([values.get(part, part) for part in parts])


def block_hash(height: int) -> bytes:
    return b"0x" + sha256(b"block %d" % height).hexdigest().encode()
