"""Recognizes tokens whose name is made to deceive: it looks like a well-known symbol, mixes scripts, or is a link."""

import re
import string
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from sweepapi.evm.tokens.skeletons import skeletons, visible

# Scripts that are written together, as UTS 39 lists them under "highly restrictive".
_EAST_ASIAN = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
# Countries, and what else sites of lures end in; USDC.multichain and BTC.RUNE are symbols.
_ENDINGS = (
    "[a-z]{2}|academy|app|art|band|bar|bet|bio|biz|blog|bond|buzz|cafe|cam|cash|casino|center|cfd|chat|claims?|click|cloud|"
    "club|com|company|cool|cyou|date|dev|digital|direct|exchange|exposed|events?|farm|finance|financial|foundation|fun|fund|"
    "fyi|games?|gifts?|gives|global|gold|group|guru|haus|help|homes|host|icu|ink|insure|info|land|lat|life|link|live|lol|"
    "ltd|market|markets|media|mobi|mom|money|monster|name|net|network|news|ninja|one|online|org|page|party|plus|pro|"
    "promo|quest|red|rest|review|rewards?|rip|rocks|run|sale|sbs|services|shop|site|social|solutions|space|store|studio|"
    "support|surf|systems|team|tech|tips|today|tokyo|tools|top|trade|trading|vip|watch|web|website|wiki|win|work|world|wtf|"
    "xyz|zone"
)
# What replaces the dot of a link, other than full stops: one in brackets and, before an ending, a dot or a word.
_FULL_STOPS = str.maketrans(dict.fromkeys("\u3002\ua4f8", "."))
_SPELLED_DOT = re.compile(
    r"\s*[\[({<]\s*(?:\.|dot)\s*[\])}>]\s*"
    rf"|(?<=\w)(?:[,\u0387\u00b7\u2022\u2027\u2219\u22c5\u30fb]|\s+dot\s+|\s+\.\s*)(?=(?:{_ENDINGS})\b)",
    re.IGNORECASE,
)
_LINK = re.compile(rf"://|\bwww\b|[\w-]+\.(?:{_ENDINGS})\b", re.IGNORECASE)
# Projects are called so, as Ether.fi, yearn.finance and Aleph.im Token; a lure has a common ending, or says what to do.
_BRAND = re.compile(
    r"\w+\.(?:exchange|farm|fi|finance|fun|games?|gg|haus|im|insure|markets?|one)(?: [\w ()-]+)?", re.IGNORECASE
)
_LURE = re.compile(
    r"airdrop|bonus|claim|drop|free|gift|promo|reward|stak|usd|visit|voucher|\b(?:at|for|get|now|on|to|win|your)\b",
    re.IGNORECASE,
)
_PLAIN_SIGNS = str.maketrans(dict.fromkeys(string.punctuation + string.whitespace))
_MOST_CHARACTERS = 32  # of what looks like a symbol
_WITH_SUFFIX = re.compile(r"(.+)\.(\w+)")
# USDC.e is what bridges call their USDC, and some chains what came from another one.
_BRIDGED = {"b", "bsc", "btc", "e", "eth", "t"}


class Deception(Enum):
    """Why a name is not to be trusted."""

    IMITATION = "imitates_symbol"
    MIXED_SCRIPTS = "mixed_scripts"
    LINK = "contains_link"


@dataclass(frozen=True)
class KnownSymbols:
    """The symbols that others imitate."""

    own: frozenset[str]  # skeletons of those that no other token of the chain may have
    listed: frozenset[str]  # skeletons of those that others may have, but not imitate
    plain_own: frozenset[str]  # as ``_plain`` returns them
    plain_listed: frozenset[str]

    @classmethod
    def of(cls, own: Collection[str], listed: Collection[str]) -> "KnownSymbols":
        """Take the symbols; listed ones of a single letter are not imitated by one that looks like it."""
        imitated = [symbol for symbol in listed if len(symbol) > 1]
        plain_own, plain_listed = (frozenset(map(_plain, symbols)) for symbols in (own, listed))
        return cls(_skeletons_of(own), _skeletons_of(imitated), plain_own, plain_listed)

    def imitated_by(self, text: str) -> bool:
        """Return whether a text looks like one of them."""
        if len(visible(text)) > _MOST_CHARACTERS:
            return False
        found = skeletons(text)
        if not found.isdisjoint(self.own):
            return True
        if suffixed := _WITH_SUFFIX.fullmatch(text):
            symbol, suffix = suffixed.groups()
            is_bridged = suffix.lower() in _BRIDGED and _plain(symbol) in self.plain_own
            if not is_bridged and not self.own.isdisjoint(skeletons(symbol)):
                return True
        return not self.has_listed(text) and not found.isdisjoint(self.listed)

    def has_listed(self, text: str) -> bool:
        """Return whether a text is a listed symbol, in either case, with or without spaces and plain signs."""
        return _plain(text) in self.plain_listed


def deception(*texts: str, known: KnownSymbols) -> Deception | None:
    """Return why these names of one token, as its contract returned them, are made to deceive."""
    if any(map(known.imitated_by, texts)):
        return Deception.IMITATION
    if any(map(_mixes_scripts, texts)):
        return Deception.MIXED_SCRIPTS
    return Deception.LINK if any(map(_has_link, texts)) else None


def _plain(text: str) -> str:
    """Return a text without plain signs, in lower case if it is plain: that of the Kelvin sign is a plain k."""
    plain = text.rstrip("\0").translate(_PLAIN_SIGNS)
    return plain.lower() if plain.isascii() else plain


def _skeletons_of(symbols: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(skeletons, symbols)) - {""}


def _mixes_scripts(text: str) -> bool:
    if text.isascii():
        return False
    letters = (character for character in unicodedata.normalize("NFKC", visible(text)) if character.isalpha())
    scripts = {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters}
    return len(scripts) > 1 and not scripts <= _EAST_ASIAN


def _has_link(text: str) -> bool:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", visible(text)).translate(_FULL_STOPS)
    if _BRAND.fullmatch(plain) and not _LURE.search(plain):
        return False
    return _LINK.search(_SPELLED_DOT.sub(".", plain)) is not None
