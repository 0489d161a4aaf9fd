"""The data that a reverted call returned is decoded if its error is known, and hostile bytes do no harm."""

import json
import random
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.encoding.abi import error_abi
from sweepapi.evm.reverts.decoding import MAX_DEPTH, MAX_TEXT_CHARACTERS, OTHER_ERRORS, RevertReason, decode_revert

ROUTER = "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB"
SEED = 7


def error(signature: str, *values: object) -> bytes:
    """Return the bytes of an error of value types and bytes, its signature written without names."""
    types = [kind for kind in signature[signature.index("(") + 1 : -1].split(",") if kind]
    return keccak(text=signature)[:4] + encode(types, values)


def signature_of(entry: dict[str, Any], form: str) -> str:
    """Return the signature of an ABI entry, each input in this form."""
    fields = [{"type": collapse_if_tuple(field), "name": field["name"]} for field in entry["inputs"]]
    return f"{entry['name']}({','.join(form.format(**field) for field in fields)})"


def leg_failed(cause: bytes, index: int = 2) -> bytes:
    return error("LegFailed(uint256,address,bytes)", index, ROUTER, cause)


TOO_LITTLE = error("Error(string)", "Too little received")


def depth_of(reason: RevertReason) -> int:
    return 1 + depth_of(reason.cause) if reason.cause is not None else 1


def test_a_failed_leg_is_decoded_down_to_the_message_of_its_router() -> None:
    assert decode_revert(leg_failed(TOO_LITTLE)) == RevertReason(
        name="LegFailed",
        arguments={"leg": "2", "target": ROUTER},
        leg_index=2,
        cause=RevertReason("Error", {"message": "Too little received"}),
    )


def test_a_failed_transfer_is_decoded_down_to_the_error_of_permit2() -> None:
    data = error("PullFailed(bytes)", error("InvalidSigner()"))
    assert decode_revert(data) == RevertReason("PullFailed", cause=RevertReason("InvalidSigner"))


def test_a_price_below_the_minimum_is_decoded_with_its_figures() -> None:
    below = error("BelowLeast(uint256,uint256,uint256)", 2, 5, 7)
    cause = RevertReason("BelowLeast", {"leg": "2", "got": "5", "least": "7"}, leg_index=2)
    assert decode_revert(leg_failed(below)).cause == cause


@pytest.mark.parametrize(
    ("data", "name", "arguments"),
    [
        (error("Panic(uint256)", 17), "Panic", {"code": "17"}),
        (error("InvalidNonce()"), "InvalidNonce", {}),
        (error("SignatureExpired(uint256)", 5), "SignatureExpired", {"signatureDeadline": "5"}),
        (
            error("ERC20InsufficientBalance(address,uint256,uint256)", ROUTER, 1, 2),
            "ERC20InsufficientBalance",
            {"sender": ROUTER, "balance": "1", "needed": "2"},
        ),
        (
            error("LegsHashMismatch(bytes32,bytes32)", b"\x01" * 32, b"\x02" * 32),
            "LegsHashMismatch",
            {"authorizedHash": "0x" + "01" * 32, "legsHash": "0x" + "02" * 32},
        ),
        (error("FeeMismatch(uint16,uint16)", 3, 4), "FeeMismatch", {"orderedBps": "3", "configuredBps": "4"}),
    ],
)
def test_errors_of_solidity_permit2_tokens_and_both_contracts_are_known(
    data: bytes, name: str, arguments: dict[str, str]
) -> None:
    assert decode_revert(data) == RevertReason(name, arguments)


def test_an_error_about_a_leg_names_the_leg() -> None:
    assert decode_revert(error("ZeroLegAmount(uint256)", 4)).leg_index == 4
    assert decode_revert(error("NoPool(uint256,address)", 3, ROUTER)).leg_index == 3
    assert decode_revert(error("InsufficientUserOutput(uint256,uint256)", 4, 5)).leg_index is None


def test_permit2s_errors_are_those_of_its_source() -> None:
    compiled = json.loads((CONTRACTS / "out/permit2/Permit2.sol/Permit2.json").read_text(encoding="utf-8"))
    declared = {signature_of(entry, "{type} {name}") for entry in compiled["abi"] if entry["type"] == "error"}
    of_allowances = {
        "AllowanceExpired(uint256 deadline)",
        "ExcessiveInvalidation()",
        "InsufficientAllowance(uint256 amount)",
    }
    assert declared - of_allowances <= set(OTHER_ERRORS)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", ""),
        (b"\x01\x02", "0x0102"),
        (bytes.fromhex("deadbeef"), "0xdeadbeef"),
        (bytes.fromhex("deadbeef") + b"\x01" * 500, "0xdeadbeef"),
    ],
)
def test_an_unknown_error_is_named_by_its_selector(data: bytes, name: str) -> None:
    assert decode_revert(data) == RevertReason(name)


@pytest.mark.parametrize(
    "data",
    [
        TOO_LITTLE[:4],
        TOO_LITTLE[:40],
        TOO_LITTLE[:4] + b"\xff" * 64,
        TOO_LITTLE[:4] + (32).to_bytes(32, "big") + b"\xff" * 32,
        leg_failed(TOO_LITTLE)[:90],
    ],
)
def test_a_known_error_with_other_bytes_behind_it_is_unknown(data: bytes) -> None:
    assert decode_revert(data) == RevertReason("0x" + data[:4].hex())


def test_text_is_cut_and_cleaned_to_printable_ascii() -> None:
    hostile = TOO_LITTLE[:4] + encode(["bytes"], [b"a\x00b\xff\xfe\n\x1b[31m\xe2\x80\xae" + b"c" * 10_000])
    message = decode_revert(hostile).arguments["message"]
    assert message.startswith("ab[31mccc")
    assert len(message) <= MAX_TEXT_CHARACTERS


def test_causes_are_followed_to_a_bounded_depth() -> None:
    data = TOO_LITTLE
    for _ in range(200):
        data = leg_failed(data)
    assert depth_of(decode_revert(data)) == MAX_DEPTH


def test_random_words_behind_every_known_selector_are_decoded_or_unknown() -> None:
    numbers = random.Random(SEED)  # noqa: S311 reproducible, and not a secret
    signatures = [signature_of(entry, "{type}") for entry in error_abi("ServiceBatchV5PartnerFees")]
    for signature in [*signatures, "Error(string)"] * 50:
        words = numbers.choices([0, 1, 32, 64, 96, 2**16, 2**255, 2**256 - 1], k=numbers.randrange(8))
        tail = numbers.randbytes(numbers.randrange(40))
        reason = decode_revert(keccak(text=signature)[:4] + b"".join(word.to_bytes(32, "big") for word in words) + tail)
        assert depth_of(reason) <= MAX_DEPTH
        assert all(text.isascii() and text.isprintable() for text in reason.arguments.values())


def test_a_valid_error_with_any_one_byte_changed_is_decoded_or_unknown() -> None:
    data = leg_failed(TOO_LITTLE)
    for position in range(len(data)):
        for change in (0x01, 0x80, 0xFF):
            changed = bytearray(data)
            changed[position] ^= change
            assert depth_of(decode_revert(bytes(changed))) <= MAX_DEPTH


def test_the_error_entries_of_a_contract_are_exported_whole() -> None:
    entries = error_abi("ServiceBatchV5PartnerFees")
    assert {entry["type"] for entry in entries} == {"error"}
    assert {"LegFailed", "AuthorizationExpired", "EnforcedPause"} <= {entry["name"] for entry in entries}
