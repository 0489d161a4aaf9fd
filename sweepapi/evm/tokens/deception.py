"""Recognizes tokens whose name is made to deceive: it imitates a well-known symbol, mixes scripts, or is a link.

Unicode's own list of confusable characters (UTS 39) has thousands of pairs. Compatible forms, accents and letters of
Cyrillic and Greek that look Latin are what imitations of Latin symbols are made of; everything else that is not Latin
beside Latin letters is a mix of scripts.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

# Cyrillic, Greek and Armenian letters, digits and signs by the Latin letter that they look like.
_LOOK_ALIKES = {
    "a": "\u0430\u03b1\u0251",
    "b": "\u0432\u03b2\u044c8",
    "c": "\u0441\u03f2\u00a2",
    "d": "\u0501\u0500",
    "e": "\u0435\u03b5\u0454\u0451\u20ac",
    "g": "\u0261\u0581",
    "h": "\u043d\u04bb\u0570\u03b7",
    "i": "\u0456\u03b9\u01311|!l",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "m": "\u043c\u03bc",
    "n": "\u0438\u0578\u043f",
    "o": "\u043e\u03bf\u0585\u03c30\u00f8",
    "p": "\u0440\u03c1",
    "q": "\u051b\u0566",
    "s": "\u04555$\u00a7",
    "t": "\u0442\u03c4\u20ae\u01677",
    "u": "\u03c5\u057d\u0446",
    "v": "\u0475\u03bd",
    "w": "\u051d\u03c9\u0448\u0461\u20a9",
    "x": "\u0445\u03c7\u00d7",
    "y": "\u0443\u03b3\u04af\u00a5",
    "z": "\u02902\u03b6",
}
_LATIN = str.maketrans({sign: letter for letter, signs in _LOOK_ALIKES.items() for sign in signs})
# Scripts that are written together, as UTS 39 lists them under "highly restrictive".
_EAST_ASIAN = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
_DOTS = str.maketrans({"\N{IDEOGRAPHIC FULL STOP}": ".", "\N{MIDDLE DOT}": ".", "\N{BULLET}": "."})
_LINK = re.compile(r"://|\bwww\b|\bt\.me\b|\b[a-z0-9-]{2,}\.[a-z]{2,}\b", re.IGNORECASE)
_SIGNS_AROUND = re.compile(r"^\W+|\W+$")


class Deception(Enum):
    """Why a name is not to be trusted."""

    IMITATION = "imitates_symbol"
    MIXED_SCRIPTS = "mixed_scripts"
    LINK = "contains_link"


def deception(*texts: str, symbols: Iterable[str]) -> Deception | None:
    """Return why these names of one token are made to deceive; ``symbols`` are those that others must not bear."""
    imitated = {_skeleton(symbol) for symbol in symbols}
    for text in texts:
        # A sign at an end may be a letter, as in a tugrik sign for T, or decoration, as in $USDC.
        if not imitated.isdisjoint((_skeleton(text), _skeleton(_SIGNS_AROUND.sub("", text)))):
            return Deception.IMITATION
    if any(_mixes_scripts(text) for text in texts):
        return Deception.MIXED_SCRIPTS
    if any(_LINK.search(unicodedata.normalize("NFKC", text).translate(_DOTS)) for text in texts):
        return Deception.LINK
    return None


def _skeleton(text: str) -> str:
    """Return what a text looks like: the same for all that look alike, without spaces, signs and accents."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LATIN)
    return "".join(character for character in plain if character.isalnum())


def _mixes_scripts(text: str) -> bool:
    letters = (character for character in unicodedata.normalize("NFKC", text) if character.isalpha())
    scripts = {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters}
    return len(scripts) > 1 and not scripts <= _EAST_ASIAN
