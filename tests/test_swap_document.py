"""The check of requests to a swap API, and of its answers, finds everything that is not documented."""

import json
from typing import Any

import pytest

from tests.swap_document import DOCUMENT, answer_problems, request_problems

MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
SOL = "So11111111111111111111111111111111111111112"
QUERY = {
    "inputMint": SOL,
    "outputMint": MINT,
    "amount": "18446744073709551615",
    "taker": SOL,
    "slippageBps": "50",
    "platformFeeBps": "75",
    "feeAccount": SOL,
    "maxAccounts": "64",
    "computeUnitPricePercentile": "7500",
    "wrapAndUnwrapSol": "false",
}
INSTRUCTION = {
    "programId": MINT,
    "accounts": [{"pubkey": SOL, "isWritable": True, "isSigner": False}],
    "data": "AQI=",
}
ANSWER = {
    "inputMint": SOL,
    "outputMint": MINT,
    "inAmount": "18446744073709551615",
    "outAmount": "0",
    "otherAmountThreshold": "0",
    "swapMode": "ExactIn",
    "slippageBps": 50,
    "priceImpactPct": "0.0012",
    "routePlan": [
        {
            "swapInfo": {
                "ammKey": MINT,
                "label": "Maker",
                "inputMint": SOL,
                "outputMint": MINT,
                "inAmount": "1",
                "outAmount": "0",
            },
            "percent": 100,
            "bps": 10000,
        }
    ],
    "computeBudgetInstructions": [],
    "setupInstructions": [INSTRUCTION],
    "swapInstruction": INSTRUCTION,
    "cleanupInstruction": None,
    "otherInstructions": [],
    "tipInstruction": None,
    "addressesByLookupTableAddress": {MINT: [SOL]},
    "blockhashWithMetadata": {"blockhash": [0] * 32, "lastValidBlockHeight": 7, "fetchedAt": {"secs_since_epoch": 1}},
}


def problems_of_request(path: str = "/build", key: str = "key", **changes: str | None) -> list[str]:
    changed = {**QUERY, **changes}
    query = [(name, value) for name, value in changed.items() if value is not None]
    return request_problems(path, query, {"x-api-key": key})


def problems_of_answer(**changes: Any) -> list[str]:
    return answer_problems(200, json.dumps({**ANSWER, **changes}).encode())


def test_a_documented_request_has_no_problems() -> None:
    assert problems_of_request() == []
    assert problems_of_request(platformFeeBps="0", feeAccount=None) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/order"},
        {"path": "/build/"},
        {"key": ""},
        {"mode": "fast"},
        {"swapMode": "ExactIn"},
        {"feeAccount": None},
        {"platformFeeBps": "0"},
        {"platformFeeBps": "10001"},
        {"slippageBps": "rtse"},
        {"slippageBps": "0.5"},
        {"amount": "0"},
        {"amount": "1e9"},
        {"amount": "-1"},
        {"taker": "0x" + "00" * 20},
        {"maxAccounts": "65"},
        {"wrapAndUnwrapSol": "False"},
        *({name: None} for name in QUERY if name != "feeAccount"),
    ],
    ids=str,
)
def test_an_undocumented_request_has_a_problem(changes: dict[str, Any]) -> None:
    assert len(problems_of_request(**changes)) == 1


def test_a_repeated_parameter_is_a_problem() -> None:
    query = [*QUERY.items(), ("amount", "1")]
    assert request_problems("/build", query, {"x-api-key": "key"}) == ["a parameter is sent twice"]


def test_a_documented_answer_has_no_problems() -> None:
    assert problems_of_answer() == []
    assert problems_of_answer(cleanupInstruction=INSTRUCTION, addressesByLookupTableAddress=None) == []
    assert answer_problems(400, b'{"error": "no route"}') == []


@pytest.mark.parametrize(
    "changes",
    [
        {"requestId": "1"},
        {"inAmount": 7},
        {"inAmount": "07"},
        {"outAmount": "-1"},
        {"inputMint": "EVM"},
        {"swapMode": "ExactOut"},
        {"tipInstruction": INSTRUCTION},
        {"swapInstruction": None},
        {"setupInstructions": None},
        {"setupInstructions": [{**INSTRUCTION, "name": "setup"}]},
        {"setupInstructions": [{**INSTRUCTION, "data": "AQI"}]},
        {"setupInstructions": [{**INSTRUCTION, "data": None}]},
        {"otherInstructions": [{"programId": MINT, "data": ""}]},
        {"otherInstructions": [{**INSTRUCTION, "accounts": [{"pubkey": SOL, "isWritable": True}]}]},
        {"otherInstructions": [{**INSTRUCTION, "accounts": [{"pubkey": SOL, "isWritable": 1, "isSigner": False}]}]},
        {"routePlan": []},
        {"routePlan": [{"percent": 100, "bps": 10000}]},
        {"addressesByLookupTableAddress": {"a table": [SOL]}},
        {"addressesByLookupTableAddress": {MINT: SOL}},
        {"blockhashWithMetadata": {"blockhash": [256] * 32, "lastValidBlockHeight": 7}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_undocumented_answer_has_a_problem(changes: dict[str, Any]) -> None:
    assert problems_of_answer(**changes)


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"]["Build"]["required"])
def test_an_answer_without_a_field_that_we_read_has_a_problem(name: str) -> None:
    answer = {field: value for field, value in ANSWER.items() if field != name}
    assert answer_problems(200, json.dumps(answer).encode()) == [f"$: {name!r} is a required property"]


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, b"{}"), (400, b'{"error": ""}'), (400, b'{"error": "no", "code": 1}'), (500, b"{}"), (200, b"<html>")],
)
def test_an_undocumented_error_has_a_problem(status: int, body: bytes) -> None:
    assert answer_problems(status, body)
