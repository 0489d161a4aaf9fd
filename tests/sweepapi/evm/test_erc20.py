"""What a token reports about itself is checked and cleaned."""

from typing import Any

import pytest

from sweepapi.evm.abi import Function
from sweepapi.evm.erc20 import MAX_SYMBOL_CHARACTERS, TokenFacts, token_facts
from sweepapi.rpc.errors import BadResponseError

PLAIN: list[Any] = [(6,), (100,), (7,), ("USDC",), None]
NUL, RIGHT_TO_LEFT = "\x00", "\N{RIGHT-TO-LEFT OVERRIDE}"


def test_a_token_is_read() -> None:
    assert token_facts(PLAIN) == TokenFacts("USDC", 6, 100, 7)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_without_decimals_balance_or_allowance_it_is_not_a_token(missing: int) -> None:
    results = list(PLAIN)
    results[missing] = None
    assert token_facts(results) is None


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
    facts = token_facts([*PLAIN[:3], text, raw])
    assert facts is not None
    assert facts.symbol == symbol


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
