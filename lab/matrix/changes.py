"""How lies change what an honest node answers: a change takes the result and what it is about, and returns another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lab.matrix.told import OTHER_HASH, Told

WORD_DIGITS = 64
FAR = 10**6  # in blocks, and as a factor of amounts
GROSS, TOTAL_FEE, PARTNER_FEE, PROTOCOL_FEE, USER_AMOUNT = range(4, 9)  # words of the data of the event
BPS = 10_000


class Part(Enum):
    """Which answer a change is made to."""

    RECEIPT = auto()  # of the transaction
    BLOCK = auto()  # at its height
    HEAD = auto()  # where a batch about it shows that, as the next two
    SAFE = auto()
    FINAL = auto()
    USED = auto()  # whether the nonce is used, as a number, on whatever block
    SAFE_TIME = auto()  # of the safe block, as a contract reads it
    CALL = auto()  # all of an ``eth_call`` about it
    LOGS = auto()  # those of its transaction, as a list
    QUERY = auto()  # all logs of a query that covers its block
    ANSWER = auto()  # to a whole batch about it: the list of responses, to HTTP status and body


@dataclass(frozen=True)
class Refusal:
    """An error in the place of a result."""

    code: int
    message: str


Change = Callable[[Any, Told], Any]
Changes = Mapping[Part, Change]
LogChange = Callable[[dict[str, Any]], dict[str, Any]]


def always(result: object) -> Change:
    return lambda _honest, _told: result


def with_fields(**fields: object) -> Change:
    """Return what changes fields of an object."""
    return lambda honest, _told: honest | fields


def without(name: str) -> Change:
    return lambda honest, _told: {key: value for key, value in honest.items() if key != name}


def with_own_log(**fields: object) -> Change:
    """Return what changes fields of the log that says what was executed."""
    return own_log(lambda log: log | fields)


def own_log_of(topic: str, change: LogChange) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what changes a receipt's logs of one event."""
    return lambda receipt: (
        receipt | {"logs": [change(log) if log["topics"][:1] == [topic] else log for log in receipt["logs"]]}
    )


def own_log(change: LogChange) -> Change:
    return lambda receipt, told: (
        receipt | {"logs": [change(log) if told.is_ours(log) else log for log in receipt["logs"]]}
    )


def each_log(**fields: object) -> Change:
    """Return what changes fields of all logs of the transaction in a query."""
    return lambda logs, _told: [log | fields for log in logs]


def with_topic(position: int, value: str) -> LogChange:
    return lambda log: log | {"topics": [*log["topics"][:position], value, *log["topics"][position + 1 :]]}


def with_words(change: Callable[[list[int]], list[int]]) -> LogChange:
    """Return what changes the words of a log's data."""

    def changed(log: dict[str, Any]) -> dict[str, Any]:
        digits = log["data"][2:]
        words = [int(digits[start : start + WORD_DIGITS], 16) for start in range(0, len(digits), WORD_DIGITS)]
        return log | {"data": "0x" + "".join(f"{word:064x}" for word in change(words))}

    return changed


def with_word(position: int, change: Callable[[int], int]) -> LogChange:
    return with_words(lambda words: [*words[:position], change(words[position]), *words[position + 1 :]])


def with_gross(change: Callable[[int], int]) -> LogChange:
    """Return what changes the gross output, and the other amounts so that they follow from it as the contract's do."""

    def changed(words: list[int]) -> list[int]:
        gross = change(words[GROSS])
        total_bps = round(BPS * words[TOTAL_FEE] / words[GROSS])
        share_bps = round(BPS * words[PARTNER_FEE] / words[TOTAL_FEE])
        total = gross * total_bps // BPS
        partner = total * share_bps // BPS
        return [*words[:GROSS], gross, total, partner, total - partner, gross - total]

    return with_words(changed)


def in_logs(change: LogChange) -> Change:
    """Return what changes the log that says what was executed, in queries."""
    return lambda logs, told: [change(log) if told.is_ours(log) else log for log in logs]


def lower(result: dict[str, Any], told: Told) -> dict[str, Any]:
    """Be behind the block of the transaction."""
    return result | {"number": hex(told.height - 1)}


def moved_down(receipt: dict[str, Any], told: Told) -> dict[str, Any]:
    """Be in the block below, with the hash of its own."""
    return receipt | {"blockNumber": hex(told.height - 1)}


def shouted(receipt: dict[str, Any], _told: Told) -> dict[str, Any]:
    """Write hashes and addresses in capitals."""

    def capitals(value: str) -> str:
        return "0x" + value[2:].upper()

    logs = [
        log | {"address": capitals(log["address"]), "topics": [capitals(topic) for topic in log["topics"]]}
        for log in receipt["logs"]
    ]
    return receipt | {"blockHash": capitals(receipt["blockHash"]), "logs": logs}


ON_A_FORK: Changes = {
    Part.RECEIPT: with_fields(blockHash=OTHER_HASH),
    Part.BLOCK: with_fields(hash=OTHER_HASH),
    Part.LOGS: each_log(blockHash=OTHER_HASH),
}
