"""Signatures of keys in every spelling become one, and what no key signed becomes none."""

import pytest
from eth_abi.abi import encode
from eth_account import Account

from sweepapi.evm.wallet.signatures import key_signature, recovered, unwrapped

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
DIGEST = bytes(range(32))
SUFFIX = bytes.fromhex("6492" * 16)
# Signed by eth-account, which does not use what is tested; one of each parity.
KEYS = [Account.from_key(number.to_bytes(32)) for number in range(1, 9)]
SIGNED = [(key.address, bytes(key.unsafe_sign_hash(DIGEST).signature)) for key in KEYS]


def words(r: int, s: int, v: int) -> bytes:
    return r.to_bytes(32) + s.to_bytes(32) + bytes([v])


def spellings(signature: bytes) -> list[bytes]:
    r, s, parity = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64]), signature[64] - 27
    return [
        words(r, s, parity),
        words(r, ORDER - s, 28 - parity),
        words(r, ORDER - s, 1 - parity),
        (words(r, s | parity << 255, 0))[:64],
    ]


def test_both_parities_are_tried() -> None:
    assert {signature[64] for _, signature in SIGNED} == {27, 28}


@pytest.mark.parametrize(("address", "signature"), SIGNED)
def test_every_spelling_becomes_the_same_65_bytes(address: str, signature: bytes) -> None:
    assert key_signature(signature) == signature
    assert [key_signature(spelling) for spelling in spellings(signature)] == [signature] * 4
    assert recovered(DIGEST, signature) == address
    assert recovered(bytes(32), signature) != address


@pytest.mark.parametrize(
    "signature",
    [
        b"",
        bytes(63),
        bytes(64),
        bytes(65),
        bytes(66),
        words(1, 0, 27),
        words(0, 1, 27),
        words(ORDER, 1, 27),
        words(1, ORDER, 27),
        words(1, 1, 2),
        words(1, 1, 26),
        words(1, 1, 29),
        words(1, 1, 255),
        words(2**256 - 1, 2**256 - 1, 27),
        b"\xff" * 64,
    ],
)
def test_what_no_key_signs_has_no_spelling(signature: bytes) -> None:
    assert key_signature(signature) is None


def test_a_signature_that_recovers_to_no_key_has_no_account() -> None:
    assert recovered(DIGEST, words(5, 1, 27)) is None, "5 is not the x of a point"


def test_a_wrapped_signature_is_taken_out() -> None:
    wrapped = encode(["address", "bytes", "bytes"], ["0x" + "fa" * 20, b"\x01" * 40, b"\x02" * 65]) + SUFFIX
    assert unwrapped(wrapped) == b"\x02" * 65
    assert unwrapped(wrapped[:-1]) is None


@pytest.mark.parametrize("inside", [b"", bytes(31), b"\xff" * 96, bytes(32) + b"\xff" * 64])
def test_a_wrapper_around_something_else_is_none(inside: bytes) -> None:
    assert unwrapped(inside + SUFFIX) is None
