"""What Unicode says looks alike has a skeleton in common."""

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
