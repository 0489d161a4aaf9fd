"""Returns what a text looks like, so that two texts that look alike have a skeleton in common.

UTS 39 of Unicode says how: normalized by NFD, without characters that are not displayed, each of the others replaced by
the prototype of those that look like it. ``confusables.txt`` has the prototypes of Unicode 17.0. It was written for
identifiers in one case; those who imitate a token's symbol also use the other case, digits for letters, accents, and
letters that only resemble one. Those are our additions.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

CONFUSABLES = Path(__file__).parent / "confusables.txt"  # as ``dev/pinned/confusables.py`` writes it

# Default_Ignorable_Code_Point of Unicode 17.0, and the blank of Braille, which shows nothing either.
_INVISIBLE = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
    *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
    *(*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
_WITHOUT_INVISIBLE: dict[int, str | None] = dict.fromkeys(_INVISIBLE)
# Letters and signs by the Latin letter that they are used for, where neither Unicode's file nor their names say so.
_ALSO = {
    "A": "\u0245\u028c\u0394\u2206\u15c5\u15e9\u039b\u043b\u20b3\u0414\u0434",
    "B": "\u044c\u0432\u03b2\u0411\u0e3f\u20bf",
    "C": "\u1455\u00a2\u00a9\u20b5\u20a1",
    "D": "\u0500\u00d0\u00f0\u15eb\u0503",
    "E": "\u0190\u025b\u20ac\ua792\ua793\u03a3\u01a9\u2211\u039e\u03b5\u0454\u042d\u044d\u018e\u01dd",
    "F": "\u20a3",
    "G": "\u20b2",
    "H": "\u043d\u050b",
    "I": "\u13c6\u0269\u0407\u0457\u00a1",
    "K": "\u03ba\u043a\u0138\u20ad",
    "L": "\u00a3\u20a4\u2112\u14aa",
    "M": "\u043c\u20a5",
    "N": "\u0418\u0438\u041f\u03a0\u0376\u0377\u220f\u0548\u0572\u0578\u043f\u10b6\u20a6",
    "O": "\u00d8\u00f8\u2205\u03a9\u0424\u0444",
    "P": "\u20b1",
    "Q": "\u01eb\u146b",
    "R": "\u042f\u044f\u00ae",
    "S": "\u1515\u00a7\u01a7\u01a8\u20b4\ua644\ua645",
    "T": "\u20ae\u03c4\u0442\u2020\u20b8",
    "U": "\u01b1\u01b2\u028a\u028b\u222a\u0426\u0446",
    "W": "\u20a9\u0428\u0448\u03c9\u0460\u0461\u15ef\u0429\u0449",
    "X": "\u00d7\u03c7",
    "Y": "\u00a5\u03a8\u0427\u0447",
    "Z": "\u0240\u1614",
}
_LATIN = {sign: letter for letter, signs in _ALSO.items() for sign in signs}
_NAMED_LETTER = re.compile(
    r"(?:LATIN (?:CAPITAL |SMALL )?|REGIONAL INDICATOR SYMBOL )LETTER "
    r"(?:SMALL CAPITAL |DOTLESS |AFRICAN |INSULAR |REVERSED )?([A-Z])(?: WITH .+)?$"
)
# In a text as it is written, an l can't be told from a capital I; both become 1, and upper case has L beside it.
_AS_WRITTEN = str.maketrans("lI|!", "1111")
_IN_LOWER_CASE = str.maketrans("1|!", "lll")
_DIGITS = str.maketrans("2345780$@", "ZEASTBOSA")
_LEAST_WITH_DIGITS = 3  # letters: B3 is not BE
# Two letters for one, as they are written only.
_PAIRS = (("rn", "m"), ("cl", "d"), ("vv", "w"), ("VV", "W"), ("\\/", "V"))
_REVERSED = re.compile("\u202e([^\u202c]*)\u202c?")  # between RIGHT-TO-LEFT OVERRIDE and POP DIRECTIONAL FORMATTING
_SIGNS_AROUND = re.compile(r"^\W+|\W+$")


def skeletons(text: str) -> set[str]:
    """Return what a text may look like: itself, and without the signs around it, in either case."""
    return set(chain.from_iterable(map(_in_each_case, _readings(text))))


def visible(text: str) -> str:
    """Return a text without the characters that are not displayed."""
    return text if text.isascii() else text.translate(_WITHOUT_INVISIBLE)


def _readings(text: str) -> Iterator[str]:
    yield text
    # A sign at an end may be a letter, as in a tugrik sign for T, or decoration, as in $USDC.
    if (undecorated := _SIGNS_AROUND.sub("", text)) != text:
        yield undecorated
    single = text
    for pair, letter in _PAIRS:
        single = single.replace(pair, letter)
    if single != text:
        yield single
    if "\u202e" in text:
        yield _REVERSED.sub(lambda match: match.group(1)[::-1], text)


def _in_each_case(text: str) -> Iterator[str]:
    compatible = text if text.isascii() else unicodedata.normalize("NFKD", text)
    for one in (text, compatible.upper()):
        yield _letters(_prototypes(one), _AS_WRITTEN).upper()
    yield _letters(_prototypes(compatible.lower()), _IN_LOWER_CASE).lower()


def _prototypes(text: str) -> str:
    """Return the skeleton of UTS 39."""
    if text.isascii():
        return text.translate(_ascii_prototypes())
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_all_prototypes()))


def _letters(prototypes: str, strokes: dict[int, int]) -> str:
    """Return the letters and digits, those of Latin as far as they look Latin; ``strokes`` are vertical ones."""
    text = prototypes
    if not text.isascii():
        text = "".join(map(_letter, unicodedata.normalize("NFKD", text)))
    text = text.translate(strokes)
    if len(text) >= _LEAST_WITH_DIGITS:
        text = text.translate(_DIGITS)
    return text if text.isalnum() else "".join(filter(str.isalnum, text))


@lru_cache(maxsize=4_096)
def _letter(character: str) -> str:
    """Return the Latin letter that a character shows, nothing for a mark over the one before it, or the character."""
    if unicodedata.combining(character):
        return ""
    if character.isascii():
        return character
    return _LATIN.get(character) or _named_letter(character) or _without_addition(character) or character


def _named_letter(character: str) -> str | None:
    """Return the letter that the name of a Latin one says, as of a small capital or one in a square."""
    named = _NAMED_LETTER.search(unicodedata.name(character, ""))
    return None if named is None else named.group(1)


def _without_addition(character: str) -> str | None:
    """Return the Latin letter that is shown without what the name says after "with", as a descender."""
    base, addition, _ = unicodedata.name(character, "").partition(" WITH ")
    try:
        return _letter(_prototypes(unicodedata.lookup(base))[:1]) if addition else None
    except KeyError:  # not every such name has one without
        return None


def _named_small_capital(character: str) -> str | None:
    return _named_letter(character) if "SMALL CAPITAL" in unicodedata.name(character, "") else None


@cache
def _all_prototypes() -> dict[int, str | None]:
    """Return the table of UTS 39, with two exceptions.

    The letter m stays, because its prototype, rn, looks like it in small letters only. Small capitals with a prototype
    that isn't a plain letter, as the Kra of a K, are the letters that they are named after.
    """
    table = dict(_WITHOUT_INVISIBLE)
    for line in CONFUSABLES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            prototype, alike = line.split(": ")
            shown = "".join(chr(int(code, 16)) for code in prototype.split()).replace("rn", "m")
            for code in alike.split():
                character = chr(int(code, 16))
                table[ord(character)] = shown if shown.isascii() else _named_small_capital(character) or shown
    return table


@cache
def _ascii_prototypes() -> dict[int, str | None]:
    return {code: shown for code, shown in _all_prototypes().items() if chr(code).isascii()}
