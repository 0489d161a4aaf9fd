"""Nothing that a provider returns is used before its format was checked."""

from typing import Any

import pytest

from sweepapi.evm.encoding import responses
from sweepapi.rpc.errors import BadResponseError

HASH = "0x" + "ab" * 32
ADDRESS = "0x" + "cd" * 20
BLOCK = {"number": "0x1", "hash": HASH, "timestamp": "0x2"}
LOG = {"address": ADDRESS, "topics": [HASH], "data": "0x00", "logIndex": "0x7"}
RECEIPT = {
    "transactionHash": HASH,
    "blockNumber": "0x10",
    "blockHash": HASH,
    "status": "0x1",
    "gasUsed": "0x5208",
    "logs": [LOG],
}


def test_a_good_receipt_is_read() -> None:
    receipt = responses.receipt_of(HASH)(RECEIPT | {"extra": 1, "transactionHash": HASH.upper().replace("X", "x")})
    assert (receipt.block_number, receipt.succeeded, receipt.gas_used) == (16, True, 21_000)
    assert receipt.logs[0].data == b"\x00"
    assert receipt.emitted_by(receipt.logs[0].address) == receipt.logs


@pytest.mark.parametrize(
    "indexes",
    [(7, 8, 9), (0, 1, 2), (0, 2, 5), (0, 0, 0)],
    ids=["by block", "by transaction", "with gaps", "not at all"],
)
def test_however_a_node_numbers_logs_their_order_is_that_of_the_transaction(indexes: tuple[int, ...]) -> None:
    logs = [LOG | {"data": f"0x0{i}", "logIndex": hex(index)} for i, index in enumerate(indexes)]
    receipt = responses.receipt_of(HASH)(RECEIPT | {"logs": logs})
    assert [one.data for one in receipt.logs] == [b"\0", b"\1", b"\2"]


def test_the_contracts_of_logs_with_certain_topics_are_found() -> None:
    other = "0x" + "ef" * 32
    logs = [
        LOG | {"topics": [HASH, other, HASH]},
        LOG | {"topics": [HASH.upper().replace("X", "x"), other], "address": "0x" + "12" * 20},
        LOG | {"topics": [other, HASH], "address": "0x" + "34" * 20},
        LOG | {"topics": [HASH], "address": "0x" + "56" * 20},
        LOG | {"topics": None},
    ]
    found = responses.emitters(logs, topics=[HASH, other])
    assert {address.lower() for address in found} == {ADDRESS, "0x" + "12" * 20}


@pytest.mark.parametrize("logs", [None, [7], [LOG | {"address": "0x12"}]])
def test_logs_without_contracts_are_refused(logs: object) -> None:
    with pytest.raises(BadResponseError):
        responses.emitters(logs, topics=[HASH])


def test_logs_of_a_receipt_that_are_listed_in_another_order_have_that_of_their_numbers() -> None:
    logs = [LOG | {"data": f"0x0{i}", "logIndex": hex(7 + i)} for i in (2, 0, 1)]
    receipt = responses.receipt_of(HASH)(RECEIPT | {"logs": logs})
    assert [one.data for one in receipt.logs] == [b"\0", b"\1", b"\2"]


@pytest.mark.parametrize("value", [None, RECEIPT | {"blockHash": None}])
def test_a_missing_receipt_or_one_without_a_block_is_none(value: object) -> None:
    assert responses.receipt_of(HASH)(value) is None


@pytest.mark.parametrize("status", ["0x0", "0x2"])
def test_only_status_one_is_a_success(status: str) -> None:
    assert responses.receipt_of(HASH)(RECEIPT | {"status": status}).succeeded is False


@pytest.mark.parametrize(
    "change",
    [
        {"transactionHash": "0x" + "00" * 32},
        {"transactionHash": None},
        {"blockNumber": 16},
        {"blockNumber": "0x" + "f" * 16},
        {"gasUsed": "0x" + "f" * 16},
        {"gasUsed": "-0x1"},
        {"blockHash": "0xab"},
        {"status": None},
        {"logs": None},
        {"logs": {}},
        {"logs": [None]},
        {"logs": [LOG | {"address": "0x12"}]},
        {"logs": [LOG | {"address": None}]},
        {"logs": [LOG | {"topics": None}]},
        {"logs": [LOG | {"topics": ["0x12"]}]},
        {"logs": [LOG | {"data": "0x0"}]},
        {"logs": [LOG | {"data": None}]},
        {"logs": [LOG | {"logIndex": None}]},
        {"logs": [LOG | {"logIndex": "7"}]},
    ],
)
def test_a_malformed_receipt_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadResponseError):
        responses.receipt_of(HASH)(RECEIPT | change)


@pytest.mark.parametrize("value", [[], "0x", 5, True])
def test_a_receipt_or_block_that_is_not_an_object_is_refused(value: object) -> None:
    for decode in (responses.receipt_of(HASH), responses.block, responses.optional_block):
        with pytest.raises(BadResponseError):
            decode(value)


@pytest.mark.parametrize(
    "change",
    [{"number": None}, {"number": "0x" + "f" * 64}, {"timestamp": "0x" + "f" * 64}, {"hash": None}, {"hash": "0x1"}],
)
def test_a_malformed_block_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadResponseError):
        responses.block(BLOCK | change)


def test_a_required_block_must_not_be_none() -> None:
    assert responses.optional_block(None) is None
    with pytest.raises(BadResponseError):
        responses.block(None)


def test_quantities_and_data_are_decoded() -> None:
    assert responses.quantity("0x" + "f" * 64) == 2**256 - 1
    assert responses.data("0x") == b""
    assert responses.hash32(HASH.upper().replace("X", "x")) == HASH
    for decode, value in (
        (responses.quantity, "0x"),
        (responses.quantity, 1),
        (responses.data, "00"),
        (responses.data, "0x0"),
        (responses.data, "0x0g"),
        (responses.data, "0x 00"),
        (responses.data, "0x0\N{ARABIC-INDIC DIGIT ONE}"),
        (responses.hash32, ""),
    ):
        with pytest.raises(BadResponseError):
            decode(value)
