"""What a token reports about itself is checked and cleaned."""

from typing import Any

import pytest
from eth_abi.abi import encode

from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import (
    MAX_REPORTED_CHARACTERS,
    MAX_SYMBOL_CHARACTERS,
    NAME,
    SYMBOL,
    TextFunction,
    TokenFacts,
    TokenIdentity,
    token_facts,
    token_identity,
)
from sweepapi.rpc.errors import BadResponseError

IDENTITY: list[Any] = [(6,), ("USDC",), ("USD Coin",)]
REPORTED = ("USDC", "USD Coin")
ACCOUNT: list[Any] = [(100,), (7,), (8,)]
NUL, RIGHT_TO_LEFT = "\x00", "\N{RIGHT-TO-LEFT OVERRIDE}"


def test_a_token_is_read() -> None:
    identity = token_identity(IDENTITY)
    assert identity == TokenIdentity("USDC", 6, "USD Coin", REPORTED)
    assert token_facts(identity, ACCOUNT) == TokenFacts("USDC", 6, 100, 7, 8, "USD Coin", REPORTED)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_without_balance_or_allowances_it_is_not_a_token(missing: int) -> None:
    account = list(ACCOUNT)
    account[missing] = None
    assert token_facts(token_identity(IDENTITY), account) is None


def test_without_decimals_it_is_not_a_token() -> None:
    assert token_facts(token_identity([None, *IDENTITY[1:]]), ACCOUNT) is None


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        (None, ""),
        (("",), ""),
        ((f"A{NUL}B{RIGHT_TO_LEFT}C\n",), "ABC"),
        (("  spaced  ",), "spaced"),
        (("x" * 10_000,), "x" * MAX_SYMBOL_CHARACTERS),
        (("\N{PILE OF POO}",), "\N{PILE OF POO}"),
    ],
)
def test_a_symbol_is_short_and_printable(text: tuple[str] | None, symbol: str) -> None:
    identity = token_identity([(6,), text, None])
    assert identity is not None
    assert (identity.symbol, identity.name) == (symbol, "")


@pytest.mark.parametrize(("text", "name"), [(None, ""), ((f"USD{NUL} Coin ",), "USD Coin"), (("x" * 99,), "x" * 64)])
def test_a_name_is_short_and_printable(text: tuple[str] | None, name: str) -> None:
    identity = token_identity([(6,), None, text])
    assert identity is not None
    assert (identity.symbol, identity.name) == ("", name)


def test_what_can_not_be_shown_is_kept_as_reported_and_bounded() -> None:
    identity = token_identity([(6,), (f"A{RIGHT_TO_LEFT}B",), ("x" * 10_000,)])
    assert identity is not None
    assert identity.reported == (f"A{RIGHT_TO_LEFT}B", "x" * MAX_REPORTED_CHARACTERS)


def test_padding_does_not_push_a_name_out_of_what_is_kept() -> None:
    identity = token_identity([(6,), (f"{RIGHT_TO_LEFT * 9_999}US{NUL * 9_999}DC",), None])
    assert identity is not None
    assert (identity.symbol, identity.reported[0]) == ("USDC", f"{RIGHT_TO_LEFT}US{NUL}DC")


@pytest.mark.parametrize("function", [SYMBOL, NAME])
@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"MKR".ljust(32, b"\0"), "MKR"),
        (b"Claim at usdc-gift.com".ljust(32, b"\0"), "Claim at usdc-gift.com"),
        (b"\xff\xfe".ljust(32, b"\0"), "\N{REPLACEMENT CHARACTER}" * 2),
        (b"x" * 32, "x" * 32),
        (bytes(32), ""),
        (encode(["string"], ["Maker"]), "Maker"),
        (encode(["string"], [""]), ""),
    ],
)
def test_a_text_is_a_string_or_bytes32(function: TextFunction, output: bytes, text: str) -> None:
    assert function.decode(output) == (text,)


@pytest.mark.parametrize("output", [b"", b"\x01", bytes(31), bytes(33), b"\x20".rjust(32, b"\0") + b"\xff" * 32])
def test_bytes_that_are_not_a_text_are_refused(output: bytes) -> None:
    with pytest.raises(BadResponseError):
        SYMBOL.decode(output)


def test_decimals_above_uint8_are_refused() -> None:
    with pytest.raises(BadResponseError):
        Function("decimals()", "(uint8)").decode((256).to_bytes(32, "big"))


def test_text_that_is_not_utf8_is_refused() -> None:
    output = (32).to_bytes(32, "big") + (2).to_bytes(32, "big") + b"\xff\xfe".ljust(32, b"\0")
    with pytest.raises(BadResponseError):
        SYMBOL.decode(output)
