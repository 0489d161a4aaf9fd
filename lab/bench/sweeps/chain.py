"""A chain with a block every two seconds that executes copied sweeps on request, and answers as a node does.

Its only transactions are those of copies. ``safe`` and ``finalized`` are the same block, which moves on request only.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.bench.sweeps.identity import transaction_hash
from lab.bench.sweeps.receipts import Mined, Original, block_hash
from sweepapi.evm.chain.multicall import AGGREGATE3, BLOCK_TIMESTAMP
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC

BLOCK_SECONDS = 2
FIRST_HEAD = 2_000  # above the local chain's, where the original was built
_WORD_DIGITS = 64
_UNKNOWN = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"the method does not exist"}}'


@dataclass
class Chain:
    """The blocks, and which copies each executed."""

    chain_id: int
    original: Original
    started: float = field(default_factory=time.time)
    final: int = FIRST_HEAD // 2  # below every block that executes copies
    by_hash: dict[str, Mined] = field(default_factory=dict)
    by_nonce: dict[str, Mined] = field(default_factory=dict)
    by_height: dict[int, list[Mined]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self._methods: Mapping[str, Callable[..., bytes]] = {
            "eth_chainId": lambda: b'"0x%x"' % self.chain_id,
            "eth_blockNumber": lambda: b'"0x%x"' % self.head,
            "eth_getBlockByNumber": self._block,
            "eth_getTransactionReceipt": self._receipt,
            "eth_getBalance": lambda *_: b'"0x%x"' % 10**18,  # of the fee signer
            "eth_getLogs": self._logs,
            "eth_call": self._multicall,
        }

    @property
    def head(self) -> int:
        return FIRST_HEAD + int((time.time() - self.started) / BLOCK_SECONDS)

    def execute(self, first: int, last: int, height: int) -> None:
        """Execute these copies in one block, which may be a future one."""
        block = self.by_height[height]
        for number in range(first, last + 1):
            block.append(Mined(number, height, len(block)))
            self.by_hash[transaction_hash(number)] = block[-1]
            self.by_nonce[self.original.nonce_of(block[-1])] = block[-1]

    def skip(self, blocks: int) -> None:
        """Let that many blocks appear at once."""
        self.started -= BLOCK_SECONDS * blocks

    def clear(self) -> None:
        """Forget what was executed."""
        self.by_hash.clear()
        self.by_nonce.clear()
        self.by_height.clear()

    def answer(self, call: Mapping[str, Any]) -> bytes:
        """Return the response to one call."""
        method = self._methods.get(call["method"])
        if method is None:
            return _UNKNOWN % (call["id"],)
        response: bytes = b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (call["id"], method(*call["params"]))
        return response

    def _height(self, reference: str) -> int:
        tags = {"latest": self.head, "safe": self.final, "finalized": self.final}
        return tags[reference] if reference in tags else int(reference, 16)

    def _timestamp(self, height: int) -> int:
        return int(self.started + BLOCK_SECONDS * (height - FIRST_HEAD))

    def _block(self, reference: str, _with_transactions: bool) -> bytes:  # noqa: FBT001 - a parameter of the method
        height = self._height(reference)
        if height > self.head:
            return b"null"
        fields = b'{"number":"0x%x","hash":"%s","parentHash":"%s","timestamp":"0x%x"}'
        return fields % (height, block_hash(height), block_hash(height - 1), self._timestamp(height))

    def _receipt(self, tx_hash: str) -> bytes:
        mined = self.by_hash.get(tx_hash)
        return b"null" if mined is None or mined.height > self.head else self.original.receipt_of(mined)

    def _logs(self, query: Mapping[str, Any]) -> bytes:
        first, last = self._height(query["fromBlock"]), min(self._height(query["toBlock"]), self.head)
        emitters = [emitter.lower() for emitter in _listed(query["address"])]
        topics, nonces = [*map(_listed, query.get("topics", ())), None, None][:2]
        if self.original.contract not in emitters or (topics is not None and EXECUTED_TOPIC not in topics):
            return b"[]"
        executed = [mined for height in range(first, last + 1) for mined in self.by_height.get(height, ())]
        if nonces is not None:
            executed = [mined for mined in executed if self.original.nonce_of(mined) in nonces]
        shown = self.original.emitted_by if topics is None else self.original.event_of
        return b"[%s]" % b",".join(map(shown, executed))

    def _multicall(self, transaction: Mapping[str, str], reference: str) -> bytes:
        """Answer the reads of a block's time, and of whether nonces were used by then."""
        height = self._height(reference)
        return b'"%s"' % _results([self._value(call, height) for call in calls_of(transaction["data"])]).encode()

    def _value(self, call: str, height: int) -> int:
        if call.startswith(BLOCK_TIMESTAMP.selector.hex()):
            return self._timestamp(height)
        mined = self.by_nonce.get(f"0x{call[len(call) - _WORD_DIGITS :]}")
        return int(mined is not None and mined.height <= height)


def calls_of(data: str) -> Iterator[str]:
    """Yield the calldata of each call of an ``aggregate3``, all as hex digits."""
    arguments = data.removeprefix(f"0x{AGGREGATE3.selector.hex()}")

    def word(start: int) -> int:
        return int(arguments[start : start + _WORD_DIGITS], 16)

    calls = 2 * _WORD_DIGITS  # behind the offset and the length of the array
    for position in range(word(_WORD_DIGITS)):
        call = calls + 2 * word(calls + position * _WORD_DIGITS)
        length = call + 3 * _WORD_DIGITS  # behind the target, the flag and the offset of the bytes
        yield arguments[length + _WORD_DIGITS : length + _WORD_DIGITS + 2 * word(length)]


def _listed(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _results(values: Sequence[int]) -> str:
    """Return ``(bool,bytes)[]`` of one word each."""
    count = len(values)
    offsets = "".join(f"{32 * count + 128 * i:064x}" for i in range(count))
    return f"0x{32:064x}{count:064x}{offsets}" + "".join(f"{1:064x}{64:064x}{32:064x}{value:064x}" for value in values)
