"""Decoders that check what providers return before anything uses it: quantities, bytes, blocks, receipts and logs.

Field names and encodings are those of the Ethereum JSON-RPC specification (execution-apis).
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sweepapi.evm.encoding.addresses import eip55
from sweepapi.rpc.errors import BadResponseError

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_COUNTER_END = 2**40


@dataclass(frozen=True)
class Block:
    """A block's position in the chain; ``timestamp`` in seconds since 1970."""

    number: int
    hash: str
    timestamp: int
    base_fee: int | None = field(default=None, compare=False)  # in wei; None where the chain or the node has none


@dataclass(frozen=True)
class GasPrice:
    """What a transaction pays now per unit of gas, in wei."""

    base_fee: int
    priority_fee: int

    @property
    def wei(self) -> int:
        """The sum of both parts."""
        return self.base_fee + self.priority_fee

    @property
    def most_wei(self) -> int:
        """What a transaction offers at most, as wallets set it: it then lasts for six blocks of rising base fees."""
        return 2 * self.base_fee + self.priority_fee


@dataclass(frozen=True)
class Log:
    """One log of a receipt."""

    address: str
    topics: tuple[str, ...]
    data: bytes


@dataclass(frozen=True)
class MinedLog:
    """A log with its transaction and its block, and its position among the contract's logs that the query shows there.

    Nodes number logs by the block or by the transaction; their order within a transaction is the same at all of them.
    """

    log: Log
    position: int
    tx_hash: str
    block_number: int
    block_hash: str


@dataclass(frozen=True)
class Receipt:
    """The outcome of a mined transaction."""

    tx_hash: str
    block_number: int
    block_hash: str
    succeeded: bool
    gas_used: int
    logs: tuple[Log, ...]  # in the order of the transaction

    def emitted_by(self, contract: str) -> tuple[Log, ...]:
        """Return the logs of a contract; the position of each is that in the result."""
        return tuple(log for log in self.logs if log.address == contract)


@dataclass(frozen=True)
class NativeTransfer:
    """What a transaction itself moves of the native coin, in wei."""

    sender: str
    recipient: str | None  # None if it creates a contract
    value: int


def quantity(value: object) -> int:
    """Return the integer of a hex quantity."""
    if isinstance(value, str) and _QUANTITY.fullmatch(value):
        return int(value, 16)
    raise BadResponseError("expected a quantity")


def counter(value: object) -> int:
    """Return a number of blocks, seconds or units of gas, none of which reaches 2^40."""
    number = quantity(value)
    if number >= _COUNTER_END:
        raise BadResponseError("expected a smaller quantity")
    return number


def data(value: object) -> bytes:
    """Return the bytes of ``0x``-prefixed data."""
    if not isinstance(value, str) or not value.startswith("0x"):
        raise BadResponseError("expected data")
    try:
        read = bytes.fromhex(value[2:])
    except ValueError:
        raise BadResponseError("expected data") from None
    if 2 * len(read) != len(value) - 2:  # it skips spaces
        raise BadResponseError("expected data")
    return read


def hash32(value: object) -> str:
    """Return a 32-byte hash in lower case."""
    if isinstance(value, str) and _HASH.fullmatch(value):
        return value.lower()
    raise BadResponseError("expected a hash")


def address(value: object) -> str:
    """Return an address in its EIP-55 form."""
    if isinstance(value, str) and _ADDRESS.fullmatch(value):
        return eip55(value)
    raise BadResponseError("expected an address")


def block(value: object) -> Block:
    """Return a block that must exist."""
    fields = _mapping(value)
    base_fee = fields.get("baseFeePerGas")
    return Block(
        number=counter(fields.get("number")),
        hash=hash32(fields.get("hash")),
        timestamp=counter(fields.get("timestamp")),
        base_fee=None if base_fee is None else quantity(base_fee),
    )


def optional_block(value: object) -> Block | None:
    """Return a block, or None if the node has none at that height or tag."""
    return None if value is None else block(value)


def next_base_fee(value: object) -> int:
    """Return the base fee of the next block, in wei, from a fee history that ends at the head."""
    fees = _mapping(value).get("baseFeePerGas")
    if not isinstance(fees, list) or not fees:
        raise BadResponseError("expected base fees")
    return quantity(fees[-1])


def receipt_of(tx_hash: str) -> Any:  # noqa: ANN401 - a function from JSON to Receipt | None
    """Return the decoder of the receipt of this transaction: None while it is not in a block."""

    def decode(value: object) -> Receipt | None:
        if value is None or _mapping(value).get("blockHash") is None:
            return None
        receipt = _receipt(_mapping(value))
        if receipt.tx_hash != tx_hash:
            raise BadResponseError("the receipt is of another transaction")
        return receipt

    return decode


def transaction_of(tx_hash: str) -> Any:  # noqa: ANN401 - a function from JSON to Transaction | None
    """Return the decoder of the transaction with this hash: None if the node has none."""

    def decode(value: object) -> NativeTransfer | None:
        if value is None:
            return None
        fields = _mapping(value)
        if hash32(fields.get("hash")) != tx_hash:
            raise BadResponseError("the transaction is another one")
        recipient = fields.get("to")
        return NativeTransfer(
            sender=address(fields.get("from")),
            recipient=None if recipient is None else address(recipient),
            value=quantity(fields.get("value")),
        )

    return decode


def effective_gas_price(value: object) -> int:
    """Return what a mined transaction paid per unit of gas, in wei, from its receipt."""
    return quantity(_mapping(value).get("effectiveGasPrice"))


def mined_logs(value: object) -> list[MinedLog]:
    """Return the logs that a query found; raises ``BadResponseError`` unless all of them are in a block.

    They are sorted by block, transaction and position, whatever the node's order is. A log that is listed twice is one.
    """
    by_emission: dict[tuple[int, str, str, str], dict[tuple[int, Log], None]] = defaultdict(dict)
    for fields in _logs(value):
        if fields.get("removed", False) is not False:
            raise BadResponseError("the log was removed")
        log = _log(fields)
        block_number, tx_hash = counter(fields.get("blockNumber")), hash32(fields.get("transactionHash"))
        emitted = by_emission[block_number, hash32(fields.get("blockHash")), tx_hash, log.address]
        emitted[counter(fields.get("logIndex")), log] = None
    return [
        MinedLog(log, position, tx_hash, block_number, block_hash)
        for (block_number, block_hash, tx_hash, _), emitted in sorted(by_emission.items())
        for position, (_, log) in enumerate(sorted(emitted, key=itemgetter(0)))
    ]


def logs(value: object, *, emitter: str | None = None) -> tuple[Log, ...]:
    """Return the logs, only those of the ``emitter`` (in EIP-55) if there is one."""
    fields = _logs(value)
    return tuple(_log(log) for log in fields if emitter is None or address(log.get("address")) == emitter)


def emitters(value: object, *, topics: list[str]) -> frozenset[str]:
    """Return the contracts of the logs that begin with these topics in lower case; the rest of a log is not decoded."""
    found = set()
    for log in _logs(value):
        begins = log.get("topics")
        if isinstance(begins, list) and [str(topic).lower() for topic in begins[: len(topics)]] == topics:
            found.add(address(log.get("address")))
    return frozenset(found)


def _receipt(fields: dict[str, object]) -> Receipt:
    emitted = _logs(fields.get("logs"))
    return Receipt(
        tx_hash=hash32(fields.get("transactionHash")),
        block_number=counter(fields.get("blockNumber")),
        block_hash=hash32(fields.get("blockHash")),
        succeeded=quantity(fields.get("status")) == 1,
        gas_used=counter(fields.get("gasUsed")),
        logs=tuple(_log(log) for log in sorted(emitted, key=lambda log: counter(log.get("logIndex")))),
    )


def _logs(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list):
        raise BadResponseError("expected logs")
    return [_mapping(log) for log in value]


def _log(fields: dict[str, object]) -> Log:
    topics = fields.get("topics")
    if not isinstance(topics, list):
        raise BadResponseError("expected a log")
    return Log(
        address=address(fields.get("address")),
        topics=tuple(hash32(topic) for topic in topics),
        data=data(fields.get("data")),
    )


def _mapping(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    raise BadResponseError("expected an object")
