"""Python's types of the fallback contract are those of its build, and its messages those of an independent encoder."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.abi import event_abi_to_log_topic, function_abi_to_4byte_selector
from eth_utils.address import to_checksum_address

from sweepapi.evm.contracts import batch, v4
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.contracts.permit2 import BatchPermit
from sweepapi.evm.encoding.responses import Log
from tests.contract_abi import camel_fields, entry, names
from tests.route_vectors import route_of

ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
REF = "0x" + "ab" * 16 + "00" * 16
USER_TOPIC = f"0x{ADDRESS[2:].lower():0>64}"
VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "eip712_v4.json").read_text(encoding="utf-8"))
each = pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])

Vector = dict[str, Any]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sweep", v4.SWEEP),
        ("sweepWithPermits", v4.SWEEP_WITH_PERMITS),
        ("sweepAsCaller", v4.SWEEP_AS_CALLER),
        ("isSweepRefUsed", v4.IS_SWEEP_REF_USED),
        ("feeBps", v4.FEE_BPS),
        ("feeRecipient", v4.FEE_RECIPIENT),
        ("paused", batch.PAUSED),
    ],
)
def test_selectors_are_those_of_the_build(name: str, function: Function) -> None:
    selector = function_abi_to_4byte_selector(entry(v4.CONTRACT_NAME, "function", name))  # type: ignore[arg-type]
    assert function.selector == selector


def test_the_events_topic_and_the_order_of_its_fields_are_those_of_the_build() -> None:
    event = entry(v4.CONTRACT_NAME, "event", "SweepExecutedV4")
    assert "0x" + event_abi_to_log_topic(event).hex() == v4.EXECUTED_TOPIC  # type: ignore[arg-type]
    assert camel_fields(v4.SweepExecutedV4) == names(event["inputs"])
    assert [item["indexed"] for item in event["inputs"]] == [True] * 2 + [False] * 5


def test_the_arguments_are_in_the_builds_order() -> None:
    _, order, *rest = entry(v4.CONTRACT_NAME, "function", "sweep")["inputs"]
    assert names(order["components"]) == ["outputToken", "feeBps", "sweepRef"]
    assert names(rest) == ["permitNonce", "permitDeadline", "permitSignature"]


@pytest.mark.parametrize("count", [1, 30])
@pytest.mark.parametrize("data_bytes", [0, 33])
def test_the_signature_is_at_the_end_of_the_call_for_any_route(count: int, data_bytes: int) -> None:
    leg = batch.BatchLeg(ADDRESS, 2**128 - 1, 2**128 - 1, batch.BatchHop())
    calls = [batch.RouterCall(index, ADDRESS, bytes(data_bytes)) for index in range(count)]
    signature = bytes(range(65))
    arguments = v4.sweep_arguments(
        route=batch.BatchRoute([leg] * count, batch.BatchHop(), 255, calls),
        order=v4.SweepOrderV4(ADDRESS, [2**128 - 1] * count, 255, 75, REF),
        permission=batch.Permission(nonce=2**256 - 1, deadline=1, signature=signature),
    )
    calldata = v4.SWEEP.encode(*arguments)
    offset = batch.signature_offset(calldata)
    assert calldata[offset : offset + 65] == signature


@pytest.mark.parametrize(
    "log",
    [
        Log(ADDRESS, (), b""),
        Log(ADDRESS, (v4.EXECUTED_TOPIC, REF), bytes(160)),
        Log(ADDRESS, ("0x" + "00" * 32, REF, USER_TOPIC), bytes(160)),
        Log(ADDRESS, (v4.EXECUTED_TOPIC, REF, USER_TOPIC), bytes(159)),
        Log(ADDRESS, (v4.EXECUTED_TOPIC, REF, USER_TOPIC), b"\xff" * 160),
    ],
)
def test_malformed_logs_are_not_decoded(log: Log) -> None:
    assert v4.decode_executed(log) is None


def test_the_largest_values_are_decoded_exactly() -> None:
    data = b"\x00" * 12 + b"\xff" * 20 + b"\xff" * 128
    event = v4.decode_executed(Log(ADDRESS, (v4.EXECUTED_TOPIC, REF, USER_TOPIC), data))
    assert event is not None
    assert (event.sweep_ref, event.user) == (REF, ADDRESS)
    assert {event.token_count, event.gross_output, event.fee, event.user_amount} == {2**256 - 1}


def permit_message(vector: Vector) -> TypedData:
    order = vector["order"]
    permit = BatchPermit(
        spender=to_checksum_address(vector["verifyingContract"]),
        permitted=[(leg.token, leg.amount) for leg in route_of(vector).legs],
        nonce=int(vector["permitNonce"]),
        deadline=int(vector["permitDeadline"]),
        witness=v4.SweepOrderV4(
            output_token=to_checksum_address(order["outputToken"]),
            floors=[int(floor) for floor in order["floors"]],
            max_skipped=int(order["maxSkipped"]),
            fee_bps=int(order["feeBps"]),
            sweep_ref=order["sweepRef"],
        ).witness,
    )
    return permit.typed_data(chain_id=int(vector["chainId"]), permit2=VECTORS["permit2"])


@each
def test_the_digest_of_the_permit_and_its_witness_agrees(vector: Vector) -> None:
    assert permit_message(vector).digest == vector["permitDigest"]


@each
def test_a_wallet_signs_the_permit_of_the_answer_to_the_byte(vector: Vector) -> None:
    user = Account.from_key(VECTORS["user"]["privateKey"])
    signed = user.sign_message(encode_typed_data(full_message=permit_message(vector).for_wallets()))
    assert "0x" + bytes(signed.signature).hex() == vector["permitSignature"]
