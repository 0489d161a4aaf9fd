"""A token whose name is made to deceive is recognized, and plain names are not."""

import pytest

from sweepapi.evm.tokens.deception import Deception, KnownSymbols, deception

LISTED = (
    "AAVE",
    "B3",
    "BE",
    "BIGTIME",
    "COMP",
    "LINK",
    "MATIC",
    "$MICHI",
    "OP",
    "PEPE",
    "SUP",
    "T",
    "UNI",
    "UP",
    "WLD",
)
KNOWN = KnownSymbols.of(own=("USDC", "USDT", "WETH", "ETH", "DAI"), listed=LISTED)
ES, A, ZERO_WIDTH = "\N{CYRILLIC CAPITAL LETTER ES}", "\N{CYRILLIC SMALL LETTER A}", "\N{ZERO WIDTH SPACE}"
OVERRIDE, BACK = "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{POP DIRECTIONAL FORMATTING}"


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
        "\u13a0\u13aa\u13c6",  # Cherokee
        "\u144c\u1515\u15ea\u1455",  # Canadian syllabics
        "\u1d1c\ua731\u1d05\u1d04",  # small capitals
        "\U0001f144\U0001f142\U0001f133\U0001f132",  # squared letters
        "USDC\N{HANGUL FILLER}",
        "USDC\N{BRAILLE PATTERN BLANK}",
        f"{OVERRIDE}CDSU",
        f"W{OVERRIDE}TE{BACK}H",
        "VVETH",
        "DAl",
        "clai",
        "USDC.A",
        "USDC.v2",
        f"USD{ES}.e",
    ],
)
def test_what_looks_like_a_symbol_of_the_chain_or_equals_it_is_an_imitation(symbol: str) -> None:
    assert deception(symbol, "Some token", known=KNOWN) is Deception.IMITATION
    assert deception("ANY", symbol, known=KNOWN) is Deception.IMITATION


@pytest.mark.parametrize(
    "symbol",
    [
        "A\N{CYRILLIC CAPITAL LETTER A}VE",
        "AAV3",
        "AAVE\N{ZERO WIDTH JOINER}",
        "L1NK",
        "LlNK",
        "l1nk",
        "UN\N{LATIN SMALL LETTER DOTLESS I}",
        "C0MP",
        "COrnP",
        "rnatic",
        "VVLD",
        "0P",
        "$P\N{CYRILLIC CAPITAL LETTER IE}PE",
        "LIN\N{KELVIN SIGN}",
        "\N{LATIN SMALL LETTER LONG S}UP",
        "PE\0PE",
        "\N{MATHEMATICAL BOLD SCRIPT CAPITAL L}\N{MATHEMATICAL BOLD SCRIPT SMALL I}nk",
    ],
)
def test_what_looks_like_a_listed_symbol_and_does_not_equal_it_is_an_imitation(symbol: str) -> None:
    assert deception(symbol, "Some token", known=KNOWN) is Deception.IMITATION
    assert not KNOWN.has_listed(symbol)


@pytest.mark.parametrize(
    "symbol", ["AAVE", "aave", "$PEPE", "PEPE\0\0", "$SUP", "$UP", "MICHI", "B3", "BE", "Big Time"]
)
def test_a_listed_symbol_is_not_an_imitation_but_known(symbol: str) -> None:
    assert deception(symbol, "Some token", known=KNOWN) is None
    assert KNOWN.has_listed(symbol)


@pytest.mark.parametrize("symbol", ["LINC", "UNL", "UNIT", "AAVE2", "8E", "7", "\N{GREEK CAPITAL LETTER TAU}", "DAL"])
def test_a_symbol_that_only_resembles_a_listed_one_is_neither(symbol: str) -> None:
    assert deception(symbol, "Some token", known=KNOWN) is None
    assert not KNOWN.has_listed(symbol)


@pytest.mark.parametrize("name", [f"Gold {A}nd silver", "\N{GREEK CAPITAL LETTER ALPHA}lpha"])
def test_a_name_of_several_scripts_is_recognized(name: str) -> None:
    assert deception("GLD", name, known=KNOWN) is Deception.MIXED_SCRIPTS


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
        "gift\N{HALFWIDTH IDEOGRAPHIC FULL STOP}com",
        "gift\N{ONE DOT LEADER}com",
        "gift\N{MIDDLE DOT}com",
        "gift\N{BULLET}com",
        f"gift{ZERO_WIDTH}.com",
        "usdc-drop[.]com",
        "usdc-drop (dot) com",
        "usdc-drop dot com",
        "usdc-drop .com",
        "usdc-gift,com",
        "Claim at x.com",
        "gift.finance",
        "usdc-airdrop.fi",
        "claim it at yearn.finance",
    ],
)
def test_a_link_is_recognized(name: str) -> None:
    assert deception("GIFT", name, known=KNOWN) is Deception.LINK


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("USDC.e", "Bridged USDC"),
        ("ETH.b", "Ether of BSC"),
        ("UNI-V2", "Uniswap V2"),
        ("LINK", "ChainLink Token"),
        ("wstETH", "Wrapped liquid staked Ether 2.0"),
        ("1INCH", "1INCH Token"),
        ("\N{CJK UNIFIED IDEOGRAPH-67F4}", "\N{CJK UNIFIED IDEOGRAPH-67F4}\N{HIRAGANA LETTER A} Token"),
        ("ETHFI", "Ether.fi"),
        ("FUN", "Sport.fun"),
        ("OX", "o1.exchange"),
        ("YFI", "yearn.finance"),
        ("GLXY", "Galaxy Digital Inc."),
        ("SUSHI.binance", "Binance-Peg SushiToken"),
        ("DOT", "Polka dot"),
        ("CMA", "One, two, three"),
        ("", ""),
    ],
)
def test_a_plain_name_is_not_deceptive(symbol: str, name: str) -> None:
    assert deception(symbol, name, known=KNOWN) is None


def test_padding_that_is_not_displayed_does_not_hide_an_imitation() -> None:
    assert deception("USDC".join([ZERO_WIDTH * 60] * 2), known=KNOWN) is Deception.IMITATION
    assert deception("USDC" + "C" * 29, known=KNOWN) is None


def test_nothing_imitates_an_empty_list() -> None:
    assert deception("", "USDC", "!", known=KnownSymbols.of(own=(), listed=())) is None
    assert deception("", "!", "\N{ZERO WIDTH SPACE}", known=KNOWN) is None
