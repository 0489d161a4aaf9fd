"""What Unicode says looks alike has a skeleton in common."""

import string
import unicodedata
from collections.abc import Iterator

import pytest

from sweepapi.evm.tokens.skeletons import CONFUSABLES, skeletons, visible


def letters_and_signs() -> Iterator[tuple[str, str]]:
    """Yield each plain letter or digit with a character that looks like it, accents aside."""
    for line in CONFUSABLES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            prototype, alike = (field.split() for field in line.split(": "))
            shown = unicodedata.normalize("NFD", "".join(chr(int(code, 16)) for code in prototype))
            plain = "".join(character for character in shown if not unicodedata.combining(character))
            if len(plain) == 1 and plain.isascii() and plain.isalnum():
                yield from ((plain, chr(int(code, 16))) for code in alike)


def test_every_character_that_unicode_confuses_with_a_letter_is_taken_for_it() -> None:
    pairs = list(letters_and_signs())
    assert len(pairs) > 1_600
    # An l is the prototype of I, i and 1 as well.
    letters = {letter: {letter, letter.upper(), *("Ii1" if letter == "l" else "")} for letter, _ in pairs}
    apart = [
        (letter, sign)
        for letter, sign in pairs
        if all(skeletons(f"XQ{one}KX").isdisjoint(skeletons(f"XQ{sign}KX")) for one in letters[letter])
    ]
    assert apart == []


@pytest.mark.parametrize(
    "alphabet",
    [
        (  # squared, in a box
            "\U0001f170\U0001f171\U0001f172\U0001f173\U0001f174\U0001f175\U0001f176\U0001f177\U0001f178\U0001f179"
            "\U0001f17a\U0001f17b\U0001f17c\U0001f17d\U0001f17e\U0001f17f\U0001f180\U0001f181\U0001f182\U0001f183"
            "\U0001f184\U0001f185\U0001f186\U0001f187\U0001f188\U0001f189"
        ),
        (  # of currencies
            "\u20b3\u0e3f\u20b5\u0110\u0246\u20a3\u20b2\u2c67\u0142J\u20ad\u2c60\u20a5\u20a6\xd8\u20b1Q\u2c64"
            "\u20b4\u20ae\u0244V\u20a9\u04fe\u024e\u2c6b"
        ),
        (  # Canadian syllabics
            "\u15e9\u15f7\u1455\u15eaE\u15b4G\u157cI\u148dK\u14aa\u15f0\u144eO\u146d\u146b\u1587\u1515T\u144c"
            "\u142f\u15ef\u166dY\u1614"
        ),
        (  # Cherokee
            "\u13aa\u13f4\u13df\u13a0\u13acF\u13c0\u13bb\u13c6\u13ab\u13e6\u13de\u13b7N\u13be\u13e2Q\u13a1\u13da"
            "\u13a2\u13cc\u13d9\u13d4X\u13a9\u13c3"
        ),
        (  # Lisu
            "\ua4ee\ua4d0\ua4da\ua4d3\ua4f0\ua4dd\ua4d6\ua4e7\ua4f2\ua4d9\ua4d7\ua4e1\ua4df\ua4e0\ua4f3\ua4d1Q"
            "\ua4e3\ua4e2\ua4d4\ua4f4\ua4e6\ua4ea\ua4eb\ua4ec\ua4dc"
        ),
        "\u0394\u03b2CD\u03a3FGHIJKLM\u03a0\u03a9PQ\u042fSTUV\u0428X\u03a8Z",  # Greek
        (  # with strokes
            "\u023a\u0243\u023b\u0110\u0246F\u01e4\u0126\u0197\u0248\ua740\u0141MN\xd8\u2c63\ua756\u024cS\u0166"
            "\u0244VWX\u024e\u01b5"
        ),
        (  # regional indicators
            "\U0001f1e6\U0001f1e7\U0001f1e8\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1ec\U0001f1ed\U0001f1ee\U0001f1ef"
            "\U0001f1f0\U0001f1f1\U0001f1f2\U0001f1f3\U0001f1f4\U0001f1f5\U0001f1f6\U0001f1f7\U0001f1f8\U0001f1f9"
            "\U0001f1fa\U0001f1fb\U0001f1fc\U0001f1fd\U0001f1fe\U0001f1ff"
        ),
    ],
)
def test_decorative_alphabets_are_read(alphabet: str) -> None:
    apart = [
        letter
        for letter, sign in zip(string.ascii_uppercase, alphabet, strict=True)
        if skeletons(f"XQ{letter}KX").isdisjoint(skeletons(f"XQ{sign}KX"))
    ]
    assert apart == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DAI", "DAl"),
        ("UNI", "UN1"),
        ("LINK", "L1NK"),
        ("link", "LINK"),
        ("ETH", "3TH"),
        ("MATIC", "rnatic"),
        ("IO", "10"),
    ],
)
def test_what_looks_alike_has_a_skeleton_in_common(one: str, other: str) -> None:
    assert not skeletons(one).isdisjoint(skeletons(other))


@pytest.mark.parametrize(
    ("one", "other"), [("DAI", "DAL"), ("LIT", "LLT"), ("ILV", "LIV"), ("BE", "B3"), ("M", "RN"), ("CL", "D")]
)
def test_what_does_not_look_alike_has_none(one: str, other: str) -> None:
    assert skeletons(one).isdisjoint(skeletons(other))


def test_what_is_not_displayed_is_not_visible() -> None:
    assert visible("US\N{ZERO WIDTH SPACE}D\N{HANGUL FILLER}C\N{TAG SPACE}") == "USDC"
    assert skeletons("\N{ZERO WIDTH SPACE}") == {""}
