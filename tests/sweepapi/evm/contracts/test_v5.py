"""Python's types of the contract are those of its build and of the deployed contract."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_utils.abi import event_abi_to_log_topic, function_abi_to_4byte_selector

from sweepapi.evm.contracts import batch, v5
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.contracts.v5 import SweepOrderV5
from tests.contract_abi import camel_fields, entry, names
from tests.local_chain import LocalChain

ABI: list[dict[str, Any]] = json.loads(
    (Path(v5.__file__).parents[1] / "abi" / f"{v5.CONTRACT_NAME}.json").read_text(encoding="utf-8")
)
ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
AUTHORIZATION = v5.Authorization(
    user=ADDRESS,
    partner_id="0x" + "11" * 32,
    partner_recipient=ADDRESS,
    protocol_recipient=ADDRESS,
    output_token=ADDRESS,
    total_fee_bps=75,
    partner_share_bps=4000,
    nonce=2**256 - 1,
    deadline=2**256 - 1,
    legs_hash="0x" + "22" * 32,
)
ORDER = SweepOrderV5(ADDRESS, [2**128 - 1], 255, 75, "0x" + "11" * 32, 2**256 - 1)


def built(contract: str) -> dict[str, Any]:
    """Return the artifact of a contract from the build."""
    path = Path(__file__).parents[4] / "contracts" / "out" / f"{contract}.sol" / f"{contract}.json"
    artifact: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return artifact


def test_the_exported_files_are_those_of_the_build() -> None:
    assert built(v5.CONTRACT_NAME)["abi"] == ABI
    for name in ("TransferProbe", "SimulationWallet", "TokenSurvey"):
        exported = json.loads((Path(v5.__file__).parents[1] / "abi" / f"{name}.json").read_text(encoding="utf-8"))
        assert exported["abi"] == built(name)["abi"]
        assert exported["deployedBytecode"] == built(name)["deployedBytecode"]["object"]


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sweep", v5.SWEEP),
        ("sweepWithPermits", v5.SWEEP_WITH_PERMITS),
        ("sweepAsCaller", v5.SWEEP_AS_CALLER),
        ("isNonceUsed", v5.IS_NONCE_USED),
        ("cancelAuthorization", v5.CANCEL_AUTHORIZATION),
        ("feeSigner", v5.FEE_SIGNER),
        ("paused", batch.PAUSED),
    ],
)
def test_selectors_are_those_of_the_build(name: str, function: Function) -> None:
    assert function.selector == function_abi_to_4byte_selector(entry(v5.CONTRACT_NAME, "function", name))  # type: ignore[arg-type]


def test_the_events_topic_and_the_order_of_its_fields_are_those_of_the_build() -> None:
    event = entry(v5.CONTRACT_NAME, "event", "SweepExecutedV5")
    assert "0x" + event_abi_to_log_topic(event).hex() == v5.EXECUTED_TOPIC  # type: ignore[arg-type]
    assert camel_fields(v5.SweepExecutedV5) == names(event["inputs"])
    assert [item["indexed"] for item in event["inputs"]] == [True] * 3 + [False] * 9


def test_a_cancellations_topic_and_fields_are_those_of_the_build() -> None:
    event = entry(v5.CONTRACT_NAME, "event", "AuthorizationCancelled")
    assert "0x" + event_abi_to_log_topic(event).hex() == v5.CANCELLED_TOPIC  # type: ignore[arg-type]
    assert list(v5.AuthorizationCancelled.__dataclass_fields__) == names(event["inputs"])
    assert [item["indexed"] for item in event["inputs"]] == [True, True]


def test_the_arguments_are_in_the_builds_order() -> None:
    _, authorization, *rest = entry(v5.CONTRACT_NAME, "function", "sweep")["inputs"]
    assert names(authorization["components"]) == list(AUTHORIZATION.message())
    assert names(rest) == ["authorizationSignature", "permitNonce", "permitDeadline", "permitSignature"]


def test_the_signed_types_are_those_of_the_contracts_struct() -> None:
    _, authorization, *_ = entry(v5.CONTRACT_NAME, "function", "sweep")["inputs"]
    signed = AUTHORIZATION.typed_data(chain_id=1, contract=ADDRESS).types["FeeAuthorization"]
    assert signed == [{"name": item["name"], "type": item["type"]} for item in authorization["components"]]


def test_the_hard_cap_is_the_contracts_constant(chain: LocalChain) -> None:
    cap = Function("MAX_TOTAL_FEE_BPS()", "(uint16)")
    answer = chain.rpc("eth_call", {"to": chain.contracts["v5"], "data": "0x" + cap.encode().hex()}, "latest")
    assert cap.decode(bytes.fromhex(answer[2:]))[0] == batch.HARD_CAP_BPS


@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize("data_bytes", [0, 1, 32, 33])
def test_the_signature_is_at_the_end_of_the_call_for_any_route(count: int, data_bytes: int) -> None:
    leg = batch.BatchLeg(ADDRESS, 2**128 - 1, 2**128 - 1, batch.BatchHop())
    calls = [batch.RouterCall(index, ADDRESS, bytes(data_bytes)) for index in range(count)]
    signature = bytes(range(65))
    calldata = v5.SWEEP.encode(
        *v5.sweep_arguments(
            route=batch.BatchRoute([leg] * count, batch.BatchHop(), 255, calls),
            authorization=AUTHORIZATION,
            signature=bytes(65),
            permission=batch.Permission(nonce=2**256 - 1, deadline=1, signature=signature),
        )
    )
    offset = batch.signature_offset(calldata)
    assert calldata[offset : offset + 65] == signature
    assert calldata[offset - 32 : offset] == (65).to_bytes(32, "big")


@pytest.mark.parametrize(
    "log",
    [
        Log(ADDRESS, (), b""),
        Log(ADDRESS, (v5.EXECUTED_TOPIC,), bytes(288)),
        Log(ADDRESS, ("0x" + "00" * 32,) * 4, bytes(288)),
        Log(ADDRESS, (v5.EXECUTED_TOPIC, *("0x" + "00" * 32,) * 3), bytes(287)),
        Log(ADDRESS, (v5.EXECUTED_TOPIC, *("0x" + "00" * 32,) * 3), b"\xff" * 288),
    ],
)
def test_malformed_logs_are_not_decoded(log: Log) -> None:
    assert v5.decode_executed(log) is None


def test_the_largest_values_are_decoded_exactly() -> None:
    topics = (v5.EXECUTED_TOPIC, "0x" + "ff" * 32, "0x" + "00" * 12 + "ff" * 20, "0x" + "ff" * 32)
    event = v5.decode_executed(Log(ADDRESS, topics, (b"\x00" * 12 + b"\xff" * 20) * 3 + b"\xff" * 192))
    assert event is not None
    assert {event.nonce, event.token_count, event.gross_output, event.user_amount} == {2**256 - 1}
