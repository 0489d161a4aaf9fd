"""Reads JSON strictly and within a budget: whatever two parsers could read differently, and whatever is too much.

What is over the budget stops the reader; it looks at nothing behind that.
"""

import json
import math
import re
from collections.abc import Iterable
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing in the stubs
from typing import Any

from sweepapi.api.input.budgets import Budget
from sweepapi.errors import MAX_DETAILS, FieldError, ForbiddenField, InvalidRequest

MAX_NAME_LENGTH = 64
# Only the API key may set these. No request has a field of such a name at any depth.
FORBIDDEN_FIELDS = frozenset(
    {
        "partnerId",
        "partnerRecipient",
        "protocolRecipient",
        "payoutWallet",
        "partnerShareBps",
        "totalFeeBps",
        "feeBps",
        "feeShare",
    }
)

_SPACE = r"[ \t\n\r]*+"
_STRING = r'"([^"\\\x00-\x1f]*+)"'  # without escapes, as nearly all are
_INTEGER = "-?(?:0|[1-9][0-9]{0,17})"
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?"
_VALUE = re.compile(rf"{_SPACE}(?:{_STRING}|(?P<number>{_NUMBER})|(?P<word>true|false|null)|(?P<other>[\[{{\"]))")
# What most bodies consist of, in one match: names with texts without escapes, or with short integers.
_PLAIN_MEMBER = re.compile(rf"{_SPACE}{_STRING}{_SPACE}:{_SPACE}(?:{_STRING}|({_INTEGER})){_SPACE}([,}}])")
_PLAIN_ITEM = re.compile(rf"{_SPACE}{_STRING}{_SPACE}([,\]])")
_NAME = re.compile(rf"{_SPACE}{_STRING}{_SPACE}:")
_ESCAPED_NAME = re.compile(rf'{_SPACE}"')
_COLON = re.compile(rf"{_SPACE}:")
_NEXT = re.compile(rf"{_SPACE}([,\]}}])")
_END = re.compile(rf"{_SPACE}\Z")
_CHARACTER = re.compile(r"[^ \t\n\r]")
_WORDS = {"true": True, "false": False, "null": None}


def read_json(raw: bytes, budget: Budget) -> Any:  # noqa: ANN401 JSON of any shape
    """Return the JSON value in these bytes.

    Raises InvalidRequest with a sentence on what is wrong with them, and ForbiddenField if nothing else is.
    """
    try:
        return _Reader(raw.decode(), budget).document()
    except UnicodeDecodeError as error:
        raise InvalidRequest("The body is not valid UTF-8.") from error
    except json.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not valid JSON: line {error.lineno}, column {error.colno}.") from error


class _Reader:
    """One pass over a text. Methods take a position, and return a value with the position behind it."""

    def __init__(self, text: str, budget: Budget) -> None:
        self._text = text
        self._budget = budget
        self._names_left, self._items_left = budget.names, budget.items
        self._path: list[str | int] = []  # to the container that is being read
        self._forbidden: list[str] = []  # places; one more than are shown says that there are more

    def document(self) -> Any:  # noqa: ANN401 JSON of any shape
        value, at = self._value(0, None)
        if not _END.match(self._text, at):
            raise self._malformed(at)
        if self._forbidden:
            raise forbidden(self._forbidden)
        return value

    def _value(self, at: int, place: str | int | None) -> tuple[Any, int]:
        """Read the value of a member or an item; ``place`` is its name or its index."""
        found = _VALUE.match(self._text, at)
        if found is None:
            raise self._malformed(at)
        end = found.end()
        match found.lastgroup:
            case None:
                return found[1], end
            case "number":
                return self._number(found["number"]), end
            case "word":
                return _WORDS[found["word"]], end
        if found["other"] == '"':
            return self._escaped(end)
        if place is not None:
            self._path.append(place)
        if len(self._path) >= self._budget.depth:
            raise InvalidRequest(f"The body is nested more than {self._budget.depth} levels deep.")
        container = self._object(end) if found["other"] == "{" else self._list(end)
        if place is not None:
            self._path.pop()
        return container

    def _object(self, at: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        end = self._end_of_empty("}", at)
        if end is not None:
            return members, end
        separator = ","
        while separator == ",":
            self._names_left -= 1
            if self._names_left < 0:
                raise self._too_much("names", self._budget.names)
            plain = _PLAIN_MEMBER.match(self._text, at)
            if plain:
                name, text, number, separator = plain.groups()
                at = plain.end()
            else:
                name, at = self._name(at)
            if name in members:
                problem = FieldError(printable(name), "duplicate_field", "This name occurs twice in one object.")
                raise InvalidRequest("The body has an object with a duplicate name.", details=[problem])
            if name in FORBIDDEN_FIELDS and len(self._forbidden) <= MAX_DETAILS:
                self._forbidden.append(joined([*self._path, name]))
            if plain:
                members[name] = self._number(number) if text is None else text
            else:
                members[name], at = self._value(at, name)
                separator, at = self._separator("}", at)
        return members, at

    def _list(self, at: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        end = self._end_of_empty("]", at)
        if end is not None:
            return items, end
        separator = ","
        while separator == ",":
            self._items_left -= 1
            if self._items_left < 0:
                raise self._too_much("items", self._budget.items)
            plain = _PLAIN_ITEM.match(self._text, at)
            if plain:
                items.append(plain[1])
                separator, at = plain[2], plain.end()
                continue
            value, at = self._value(at, len(items))
            items.append(value)
            separator, at = self._separator("]", at)
        return items, at

    def _name(self, at: int) -> tuple[str, int]:
        """Read a name and the colon behind it."""
        found = _NAME.match(self._text, at)
        if found is not None:
            return found[1], found.end()
        opening = _ESCAPED_NAME.match(self._text, at)
        if opening is None:
            raise self._malformed(at)
        name, at = self._escaped(opening.end())
        colon = _COLON.match(self._text, at)
        if colon is None:
            raise self._malformed(at)
        return name, colon.end()

    def _escaped(self, at: int) -> tuple[str, int]:
        """Read a string from behind its first quote."""
        value, end = scanstring(self._text, at, True)  # noqa: FBT003 it takes no keywords
        if _has_lone_surrogate(value):
            raise InvalidRequest("The body has a string with a lone surrogate.")
        return value, end

    def _number(self, text: str) -> int | float:
        if len(text) > self._budget.digits and sum(map(text.count, "0123456789")) > self._budget.digits:
            raise InvalidRequest(f"The body has a number with more than {self._budget.digits} digits.")
        if text.removeprefix("-").isdigit():
            return int(text)
        number = float(text)
        if math.isinf(number):
            raise InvalidRequest("The body has a number that is too large.")
        return number

    def _end_of_empty(self, bracket: str, at: int) -> int | None:
        found = _NEXT.match(self._text, at)
        return found.end() if found is not None and found[1] == bracket else None

    def _separator(self, bracket: str, at: int) -> tuple[str, int]:
        """Read a comma, or the bracket that ends the container."""
        found = _NEXT.match(self._text, at)
        if found is None or found[1] not in (",", bracket):
            raise self._malformed(at)
        return found[1], found.end()

    def _too_much(self, what: str, count: int) -> InvalidRequest:
        message = f"The body has more than {count} {what} up to here; what follows was not read."
        problem = FieldError(joined(self._path), "too_long", message)
        return InvalidRequest("The body holds more than this operation takes.", details=[problem])

    def _malformed(self, at: int) -> json.JSONDecodeError:
        found = _CHARACTER.search(self._text, at)
        return json.JSONDecodeError("", self._text, found.start() if found else len(self._text))


def _has_lone_surrogate(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def forbidden(places: Iterable[str]) -> ForbiddenField:
    """Return the refusal of a request that has forbidden fields at these places."""
    message = "This is set by your API key and cannot be sent."
    return ForbiddenField(details=[FieldError(place, "forbidden_field", message) for place in places])


def joined(path: list[str | int]) -> str:
    """Return a path such as ``tokens[2].amount``."""
    text = ""
    for place in path:
        text += f"[{place}]" if isinstance(place, int) else f"{'.' if text else ''}{printable(place)}"
    return text


def printable(name: str) -> str:
    """Return a name from a body in a form that is safe to show: ASCII and short."""
    return name[:MAX_NAME_LENGTH].encode("ascii", "backslashreplace").decode("ascii")
