"""What a token reports about itself is checked and cleaned."""

from typing import Any

import pytest

from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import MAX_SYMBOL_CHARACTERS, TokenFacts, TokenIdentity, token_facts, token_identity
from sweepapi.rpc.errors import BadResponseError

IDENTITY: list[Any] = [(6,), ("USDC",), None, ("USD Coin",)]
ACCOUNT: list[Any] = [(100,), (7,), (8,)]
NUL, RIGHT_TO_LEFT = "\x00", "\N{RIGHT-TO-LEFT OVERRIDE}"


def test_a_token_is_read() -> None:
    identity = token_identity(IDENTITY)
    assert identity == TokenIdentity("USDC", 6, "USD Coin")
    assert token_facts(identity, ACCOUNT) == TokenFacts("USDC", 6, 100, 7, 8, "USD Coin")


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_without_balance_or_allowances_it_is_not_a_token(missing: int) -> None:
    account = list(ACCOUNT)
    account[missing] = None
    assert token_facts(token_identity(IDENTITY), account) is None


def test_without_decimals_it_is_not_a_token() -> None:
    assert token_facts(token_identity([None, *IDENTITY[1:]]), ACCOUNT) is None


@pytest.mark.parametrize(
    ("text", "raw", "symbol"),
    [
        (None, (b"MKR" + bytes(29),), "MKR"),
        (None, (b"\xff\xfe" + bytes(30),), "\N{REPLACEMENT CHARACTER}" * 2),
        (None, None, ""),
        (("",), None, ""),
        ((f"A{NUL}B{RIGHT_TO_LEFT}C\n",), None, "ABC"),
        (("  spaced  ",), None, "spaced"),
        (("x" * 10_000,), None, "x" * MAX_SYMBOL_CHARACTERS),
        (("\N{PILE OF POO}",), None, "\N{PILE OF POO}"),
    ],
)
def test_a_symbol_is_short_and_printable(text: tuple[str] | None, raw: tuple[bytes] | None, symbol: str) -> None:
    assert token_identity([(6,), text, raw, None]) == TokenIdentity(symbol, 6, "")


@pytest.mark.parametrize(("text", "name"), [(None, ""), ((f"USD{NUL} Coin ",), "USD Coin"), (("x" * 99,), "x" * 64)])
def test_a_name_is_short_and_printable(text: tuple[str] | None, name: str) -> None:
    assert token_identity([(6,), None, None, text]) == TokenIdentity("", 6, name)


@pytest.mark.parametrize("output", [b"", b"\x01", bytes(31), b"\xff" * 32, b"\x20".rjust(32, b"\0") + b"\xff" * 32])
def test_bytes_that_are_not_a_string_are_refused(output: bytes) -> None:
    with pytest.raises(BadResponseError):
        Function("symbol()", "(string)").decode(output)


def test_decimals_above_uint8_are_refused() -> None:
    with pytest.raises(BadResponseError):
        Function("decimals()", "(uint8)").decode((256).to_bytes(32, "big"))


def test_text_that_is_not_utf8_is_refused() -> None:
    output = (32).to_bytes(32, "big") + (2).to_bytes(32, "big") + b"\xff\xfe".ljust(32, b"\0")
    with pytest.raises(BadResponseError):
        Function("symbol()", "(string)").decode(output)
