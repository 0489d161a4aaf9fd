"""A token whose name is made to deceive is recognized, and plain names are not."""

import pytest

from sweepapi.evm.tokens.deception import Deception, deception

SYMBOLS = ("USDC", "USDT", "WETH", "ETH", "DAI")
ES, A, ZERO_WIDTH = "\N{CYRILLIC CAPITAL LETTER ES}", "\N{CYRILLIC SMALL LETTER A}", "\N{ZERO WIDTH SPACE}"


@pytest.mark.parametrize(
    "symbol",
    [
        "USDC",
        "usdc",
        "$USDC",
        " U S D C ",
        f"USD{ES}",
        f"US{ZERO_WIDTH}DC",
        "U5DC",
        "U$DC",
        "USD\N{TUGRIK SIGN}",
        "\N{FULLWIDTH LATIN CAPITAL LETTER E}TH",
        "\N{MATHEMATICAL BOLD CAPITAL D}AI",
        "W\N{LATIN CAPITAL LETTER E WITH ACUTE}TH",
    ],
)
def test_a_symbol_that_looks_like_a_listed_one_is_an_imitation(symbol: str) -> None:
    assert deception(symbol, "Some token", symbols=SYMBOLS) is Deception.IMITATION
    assert deception("ANY", symbol, symbols=SYMBOLS) is Deception.IMITATION


@pytest.mark.parametrize("name", [f"Gold {A}nd silver", "\N{GREEK CAPITAL LETTER ALPHA}lpha"])
def test_a_name_of_several_scripts_is_recognized(name: str) -> None:
    assert deception("GLD", name, symbols=SYMBOLS) is Deception.MIXED_SCRIPTS


@pytest.mark.parametrize(
    "name",
    [
        "https://gift",
        "Visit www gift",
        "t.me/gift",
        "gift-claim.com",
        "Claim at GIFT.XYZ now",
        "gift\N{FULLWIDTH FULL STOP}com",
        "gift\N{IDEOGRAPHIC FULL STOP}com",
    ],
)
def test_a_link_is_recognized(name: str) -> None:
    assert deception("GIFT", name, symbols=SYMBOLS) is Deception.LINK


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("USDC.e", "Bridged USDC"),
        ("UNI-V2", "Uniswap V2"),
        ("LINK", "ChainLink Token"),
        ("wstETH", "Wrapped liquid staked Ether 2.0"),
        ("1INCH", "1INCH Token"),
        ("\N{CJK UNIFIED IDEOGRAPH-67F4}", "\N{CJK UNIFIED IDEOGRAPH-67F4}\N{HIRAGANA LETTER A} Token"),
        ("", ""),
    ],
)
def test_a_plain_name_is_not_deceptive(symbol: str, name: str) -> None:
    assert deception(symbol, name, symbols=SYMBOLS) is None


def test_nothing_imitates_an_empty_list() -> None:
    assert deception("", "USDC", symbols=()) is None
