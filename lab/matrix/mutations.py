"""The table: what a provider may say of a mined transaction, and what the service has to make of it on each path.

``beside`` is right for a confirm and for the worker where another provider is honest, ``only`` where the liar is the
only provider, and ``both`` where two tell the same lie, if that is different. ``follower`` and ``reconciliation`` are
right where all providers lie; beside an honest one they find what happened, or nothing yet.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lab.matrix.changes import (
    FAR,
    GROSS,
    ON_A_FORK,
    USER_AMOUNT,
    Change,
    Changes,
    Part,
    Refusal,
    always,
    each_log,
    in_logs,
    lower,
    moved_down,
    own_log,
    shouted,
    with_fields,
    with_gross,
    with_own_log,
    with_topic,
    with_word,
    without,
)
from lab.matrix.told import OTHER_HASH, Told

OTHER_ADDRESS = "0x" + "ad" * 20
OTHER_WORD = "0x" + "0" * 24 + "ad" * 20


class Right(StrEnum):
    """What the service makes of it."""

    HONEST = "as it happened"
    RECEIPT = "waits for receipt"
    BLOCK = "waits for block"
    AGREEMENT = "waits for agreement"
    NOTHING = "finds nothing"
    # Believed, because nothing contradicts it, and corrected afterwards:
    REFUSED = "refused"
    OTHER = "completed otherwise"


HONEST, RECEIPT, BLOCK, AGREEMENT, NOTHING, REFUSED, OTHER = Right
BELIEVED = frozenset((REFUSED, OTHER))
# What is right on the paths that no report leads to, where another provider is honest.
NEVER_WRONG = frozenset((HONEST, NOTHING, RECEIPT, BLOCK, AGREEMENT))

OF_A_BATCH = frozenset((Part.HEAD, Part.SAFE, Part.FINAL, Part.SAFE_TIME, Part.CALL, Part.QUERY, Part.ANSWER))


@dataclass(frozen=True)
class Mutation:
    """A lie, and what is right."""

    name: str
    changes: Changes
    beside: Right
    only: Right
    both: Right
    follower: Right
    reconciliation: Right
    is_silent: bool  # the liar has no opinion: beside it, one word counts after ten seconds
    happened: bool = True  # False: the liar makes the execution up
    stays: bool = False  # what is believed because of it is corrected once the block is final, and not before

    @property
    def is_of_a_batch(self) -> bool:
        """Whether it changes what the provider says of others, too, so that it has to be alone."""
        return not OF_A_BATCH.isdisjoint(self.changes)

    @property
    def is_of_a_query(self) -> bool:
        """The same where logs are queried."""
        return self.is_of_a_batch or Part.LOGS in self.changes

    def asked(self, who: str) -> Right:
        """Return what is right for a confirm and for the worker: if ``only``, ``both``, or one of two tells it."""
        return {"only": self.only, "both": self.both}.get(who, self.beside)


def _row(  # noqa: PLR0913, PLR0917 - the columns
    name: str,
    changes: Changes,
    beside: Right,
    only: Right,
    follower: Right,
    reconciliation: Right,
    *,
    both: Right | None = None,
    silent: bool = False,
    happened: bool = True,
    stays: bool = False,
) -> Mutation:
    return Mutation(name, changes, beside, only, both or only, follower, reconciliation, silent, happened, stays)


def _receipt(change: Change) -> Changes:
    return {Part.RECEIPT: change}


def _contradicted(
    name: str, change: Change, *, only: Right, both: Right | None = None, stays: bool = False
) -> Mutation:
    """Return a receipt that the honest one contradicts, and that the event contradicts on the other paths."""
    return _row(name, _receipt(change), AGREEMENT, only, NOTHING, NOTHING, both=both, stays=stays)


def _odd(name: str, changes: Changes) -> Mutation:
    """Return what is odd, and says the same."""
    return _row(name, changes, HONEST, HONEST, HONEST, HONEST)


def _unusable(name: str, reply: Change) -> Mutation:
    """Return an answer to a whole batch of which nothing can be used."""
    return _row(name, {Part.ANSWER: reply}, AGREEMENT, RECEIPT, NOTHING, NOTHING, silent=True)


def _unreadable(name: str, result: object) -> Mutation:
    """Return an answer in the place of a receipt that says nothing of it."""
    return _row(name, _receipt(always(result)), AGREEMENT, RECEIPT, NOTHING, NOTHING, silent=True)


def _placeless(name: str, change: Change) -> Mutation:
    """Return what leaves open which block is at the receipt's height."""
    return _row(name, {Part.BLOCK: change}, AGREEMENT, BLOCK, HONEST, HONEST, silent=True)


def _headless(name: str, change: Change) -> Mutation:
    return _row(name, {Part.HEAD: change}, AGREEMENT, RECEIPT, NOTHING, NOTHING, silent=True)


def _of_logs(name: str, changes: Changes, *, found: Right = NOTHING, final: Right = NOTHING) -> Mutation:
    """Return a lie in queries of logs, which neither a confirm nor the worker depends on."""
    return _row(name, changes, HONEST, HONEST, found, final)


def _http(status: int, body: bytes = b"") -> Change:
    return lambda _responses, _told: (status, body)


def _responses(change: Any) -> Change:  # noqa: ANN401 - a function of the list of responses and what it is about
    return lambda responses, told: (200, json.dumps(change(responses, told)).encode())


def _without_receipt(responses: Sequence[dict[str, Any]], told: Told) -> list[dict[str, Any]]:
    """Leave out the response about the transaction, or about the newest block."""
    hashes = [one for one in responses if told.tx_hash not in json.dumps(one)]
    return hashes if len(hashes) < len(responses) else list(responses[1:])


def _extra(receipt: dict[str, Any], _told: Told) -> dict[str, Any]:
    return receipt | {"logs": [*receipt["logs"], receipt["logs"][0] | {"address": OTHER_ADDRESS}]}


def _twice(receipt: dict[str, Any], told: Told) -> dict[str, Any]:
    return receipt | {"logs": [*receipt["logs"], *filter(told.is_ours, receipt["logs"])]}


def _renumbered(receipt: dict[str, Any], _told: Told) -> dict[str, Any]:
    """Count logs by transaction, and not by block, or the other way round."""
    return receipt | {"logs": [log | {"logIndex": hex(900 + i)} for i, log in enumerate(receipt["logs"])]}


def _cut(log: dict[str, Any]) -> dict[str, Any]:
    return log | {"data": log["data"][:-64]}


def _alone(log: dict[str, Any]) -> dict[str, Any]:
    """Be about nothing, as an anonymous log."""
    return log | {"topics": []}


ABSENT = Refusal(-39001, "Unknown block")
INTERNAL = Refusal(-32603, "internal error")
TOO_MANY = Refusal(-32005, "query returned more than 10000 results")
_gross_a_bit_higher = with_gross(lambda gross: gross + gross // 100)
_NOTHING_HAPPENED: Changes = {
    Part.RECEIPT: always(None),
    Part.USED: always(0),
    Part.LOGS: always([]),
}

RECEIPTS = (
    _row("no receipt", _receipt(always(None)), AGREEMENT, RECEIPT, NOTHING, NOTHING),
    _row("a receipt without a block", _receipt(with_fields(blockHash=None)), AGREEMENT, RECEIPT, NOTHING, NOTHING),
    _contradicted("status 0 and no logs", with_fields(status="0x0", logs=[]), only=AGREEMENT),
    _contradicted("status 0 with its logs", with_fields(status="0x0"), only=AGREEMENT),
    _contradicted("status 2", with_fields(status="0x2"), only=AGREEMENT),
    _contradicted("no logs", with_fields(logs=[]), only=AGREEMENT),
    _contradicted("in the block of a fork", with_fields(blockHash=OTHER_HASH), only=BLOCK),
    _contradicted("in the block below", moved_down, only=BLOCK),
    _row(
        "in a block above the head",
        _receipt(with_fields(blockNumber=hex(FAR))),
        AGREEMENT,
        RECEIPT,
        NOTHING,
        NOTHING,
    ),
    _contradicted(
        "a million times the output", own_log(with_gross(lambda gross: gross * FAR)), only=BLOCK, both=OTHER, stays=True
    ),
    _contradicted("a hundredth more output", own_log(_gross_a_bit_higher), only=OTHER, stays=True),
    _contradicted("a unit more output", own_log(with_word(GROSS, lambda gross: gross + 1)), only=REFUSED),
    _contradicted("a unit less for the user", own_log(with_word(USER_AMOUNT, lambda paid: paid - 1)), only=REFUSED),
    _contradicted("another user", own_log(with_topic(2, OTHER_WORD)), only=REFUSED),
    _contradicted("another partner", own_log(with_topic(3, OTHER_HASH)), only=REFUSED),
    _contradicted("another recipient of the partner", own_log(with_word(0, lambda _: 7)), only=REFUSED),
    _contradicted("another recipient of the protocol", own_log(with_word(1, lambda _: 7)), only=REFUSED),
    _contradicted("another output token", own_log(with_word(2, lambda _: 7)), only=REFUSED),
    _contradicted("another number of tokens", own_log(with_word(3, lambda count: count + 1)), only=REFUSED),
    _contradicted("the event of another authorization", own_log(with_topic(1, OTHER_HASH)), only=AGREEMENT),
    _contradicted("another event", own_log(with_topic(0, OTHER_HASH)), only=AGREEMENT),
    _contradicted("an event without topics", own_log(_alone), only=AGREEMENT),
    _contradicted("the event of another contract", with_own_log(address=OTHER_ADDRESS), only=AGREEMENT),
    _contradicted("an event that is cut off", own_log(_cut), only=AGREEMENT),
    _row("its event twice", _receipt(_twice), AGREEMENT, HONEST, HONEST, NOTHING),
    _unreadable("text in the place of the receipt", "not yet"),
    _unreadable("a list in the place of the receipt", []),
    _unreadable("an error in the place of the receipt", INTERNAL),
    _unreadable("no such transaction, as an error", Refusal(-32000, "transaction not found")),
    _row("no status", _receipt(without("status")), AGREEMENT, RECEIPT, NOTHING, NOTHING, silent=True),
    _row("data of half a byte", _receipt(with_own_log(data="0x1")), AGREEMENT, RECEIPT, NOTHING, NOTHING, silent=True),
    _row(
        "the receipt of another transaction",
        _receipt(with_fields(transactionHash=OTHER_HASH)),
        AGREEMENT,
        RECEIPT,
        NOTHING,
        NOTHING,
        silent=True,
    ),
    _odd("other numbers of logs", _receipt(_renumbered)),
    _odd("other gas", _receipt(with_fields(gasUsed="0x1"))),
    _odd("capital letters", _receipt(shouted)),
    _odd("unknown members", _receipt(with_fields(l1Fee="0x1", type="0x7e", timeboosted=False))),
    _odd("a log of another contract more", _receipt(_extra)),
)

BLOCKS = (
    _row("another block at its height", {Part.BLOCK: with_fields(hash=OTHER_HASH)}, AGREEMENT, BLOCK, HONEST, HONEST),
    _placeless("no block at its height", always(None)),
    _placeless("no block at its height, as an error", always(ABSENT)),
    _placeless("text in the place of its block", always("0x")),
    _placeless("the block of another height", with_fields(number="0x1")),
)

HEADS = (
    _row("a head below its block", {Part.HEAD: lower}, AGREEMENT, RECEIPT, HONEST, HONEST, silent=True),
    _row(
        "all as of the block below",
        {Part.HEAD: lower, **_NOTHING_HAPPENED},
        AGREEMENT,
        RECEIPT,
        NOTHING,
        NOTHING,
        silent=True,
    ),
    _headless("no head", always(None)),
    _headless("an error in the place of the head", always(INTERNAL)),
    _headless("a head without a hash", without("hash")),
    _odd("a head far above", {Part.HEAD: with_fields(number=hex(FAR))}),
    _odd("no safe block", {Part.SAFE: always(None)}),
    _odd("no safe block, as an error", {Part.SAFE: always(ABSENT)}),
    _odd("a safe block far above", {Part.SAFE: with_fields(number=hex(FAR))}),
    _row("no final block", {Part.FINAL: always(None)}, HONEST, HONEST, HONEST, NOTHING),
)

STATES = (
    _row("the nonce is unused", {Part.USED: always(0)}, AGREEMENT, AGREEMENT, HONEST, HONEST),
    _odd("an error in the place of the nonce", {Part.CALL: always(INTERNAL)}),
    _odd("no bytes in the place of the nonce", {Part.CALL: always("0x")}),
    _odd("text in the place of the nonce", {Part.CALL: always("no")}),
)

ANSWERS = (
    _unusable("HTTP 500", _http(500)),
    _unusable("HTTP 429", _http(429)),
    _unusable("a page in HTML", _http(200, b"<html>busy</html>")),
    _unusable("no body", _http(200)),
    _unusable("half a body", lambda responses, _told: (200, json.dumps(responses).encode()[:-9])),
    _unusable("an empty list", _responses(lambda _responses, _told: [])),
    _unusable("a response too few", _responses(_without_receipt)),
    _unusable(
        "one error for the whole batch",
        _responses(lambda _responses, _told: {"error": {"code": -32600, "message": "no"}}),
    ),
)

LOGS = (
    _of_logs("no log", {Part.LOGS: always([])}),
    _of_logs("a log of another output", {Part.LOGS: in_logs(_gross_a_bit_higher)}),
    _of_logs("a log in the block of a fork", {Part.LOGS: each_log(blockHash=OTHER_HASH)}),
    _of_logs("a log of another transaction", {Part.LOGS: each_log(transactionHash=OTHER_HASH)}),
    _of_logs("a log that was removed", {Part.LOGS: each_log(removed=True)}),
    _of_logs("its log twice", {Part.LOGS: lambda logs, _told: [*logs, *logs]}, found=HONEST, final=HONEST),
    _of_logs("a log without topics", {Part.LOGS: each_log(topics=[])}),
    _of_logs("a log of another contract", {Part.LOGS: each_log(address=OTHER_ADDRESS)}),
    _of_logs("an error in the place of logs", {Part.QUERY: always(TOO_MANY)}),
    _of_logs("null in the place of logs", {Part.QUERY: always(None)}),
)


def _made_up_receipt(_honest: object, told: Told) -> dict[str, Any]:
    return told.receipt


def _made_up_log(_honest: object, told: Told) -> list[dict[str, Any]]:
    return [told.event]


def _after_the_deadline(time: int, _told: Told) -> int:
    return time + FAR


# Several answers that fit each other, as of a node that is on another chain, or in someone else's hands.
WHOLE = (
    _row("a fork", ON_A_FORK, AGREEMENT, OTHER, OTHER, OTHER),
    _row(
        "a hundredth more output, also in logs",
        {Part.RECEIPT: own_log(_gross_a_bit_higher), Part.LOGS: in_logs(_gross_a_bit_higher)},
        AGREEMENT,
        OTHER,
        OTHER,
        OTHER,
        stays=True,
    ),
    _row(
        "a revert with an unused nonce",
        {**_NOTHING_HAPPENED, Part.RECEIPT: with_fields(status="0x0", logs=[])},
        AGREEMENT,
        REFUSED,
        NOTHING,
        NOTHING,
    ),
    _row(
        "nothing happened, and the deadline is over",
        {**_NOTHING_HAPPENED, Part.SAFE_TIME: _after_the_deadline},
        AGREEMENT,
        REFUSED,
        NOTHING,
        NOTHING,
        stays=True,
    ),
    _row(
        "an execution that did not happen",
        {Part.RECEIPT: _made_up_receipt, Part.USED: always(1), Part.LOGS: _made_up_log},
        AGREEMENT,
        OTHER,
        OTHER,
        OTHER,
        happened=False,
    ),
    _row(
        "an execution that did not happen, of an unused nonce",
        {Part.RECEIPT: _made_up_receipt},
        AGREEMENT,
        AGREEMENT,
        NOTHING,
        NOTHING,
        happened=False,
    ),
)

MUTATIONS = (*RECEIPTS, *BLOCKS, *HEADS, *STATES, *ANSWERS, *LOGS, *WHOLE)
