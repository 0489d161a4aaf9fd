"""Reads request bodies as strict JSON: whatever two parsers could read differently is refused."""

import json
import math
from collections.abc import Mapping
from typing import IO, Any, Never

from django.http import UnreadablePostError
from rest_framework.parsers import BaseParser

from sweepapi.errors import FieldError, InvalidRequest, PayloadTooLarge
from sweepapi.limits.nesting import is_nested_deeper

MAX_BODY_BYTES = 256 * 1024
MAX_DEPTH = 16
# No integer of the API has more digits than a uint256.
MAX_INTEGER_DIGITS = 78
MAX_NAME_LENGTH = 64


class RawJSONParser(BaseParser):
    """The bytes of a body of at most 256 KiB, for views that answer in their own way what is wrong with it."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 DRF passes both
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 as DRF's own
        """Return the body. Raises PayloadTooLarge and InvalidRequest."""
        try:
            raw = stream.read(MAX_BODY_BYTES + 1)
        except UnreadablePostError as error:
            raise InvalidRequest("The body ended before it was complete.") from error
        if len(raw) > MAX_BODY_BYTES:
            raise PayloadTooLarge
        return raw


class StrictJSONParser(RawJSONParser):
    """One JSON object in UTF-8 of at most 256 KiB and 16 levels, without duplicate names, NaN or lone surrogates."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the body's object. Raises PayloadTooLarge and InvalidRequest."""
        return parse_object(super().parse(stream, media_type, parser_context))


def parse_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in these bytes; raise InvalidRequest as ``parse_value`` does."""
    value = parse_value(raw)
    if not isinstance(value, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return value


def parse_value(raw: bytes) -> Any:  # noqa: ANN401 JSON of any shape
    """Return the JSON value in these bytes; raise InvalidRequest with a sentence on what is wrong with them."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The body is not valid UTF-8.") from error
    if is_nested_deeper(text, than=MAX_DEPTH):
        raise InvalidRequest(f"The body is nested more than {MAX_DEPTH} levels deep.")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_refuse_constant,
            parse_int=_bounded_integer,
            parse_float=_finite_number,
        )
    except json.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not valid JSON: line {error.lineno}, column {error.colno}.") from error
    _refuse_lone_surrogates(value)
    return value


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            field = printable(name)
            problem = FieldError(field=field, code="duplicate_field", message="This name occurs twice in one object.")
            raise InvalidRequest("The body has an object with a duplicate name.", details=[problem])
        result[name] = value
    return result


def _refuse_constant(name: str) -> Never:
    raise InvalidRequest(f"The body is not valid JSON: {name} is not a JSON value.")


def _bounded_integer(digits: str) -> int:
    if len(digits.removeprefix("-")) > MAX_INTEGER_DIGITS:
        raise InvalidRequest(f"The body has an integer with more than {MAX_INTEGER_DIGITS} digits.")
    return int(digits)


def _finite_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidRequest("The body has a number that is too large.")
    return number


def _refuse_lone_surrogates(value: object) -> None:
    """Refuse strings that cannot be encoded, names included; the depth is already bounded."""
    match value:
        case str():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError as error:
                raise InvalidRequest("The body has a string with a lone surrogate.") from error
        case dict():
            for name, inner in value.items():
                _refuse_lone_surrogates(name)
                _refuse_lone_surrogates(inner)
        case list():
            for inner in value:
                _refuse_lone_surrogates(inner)


def printable(name: str) -> str:
    """Return a name from a body in a form that is safe to show: ASCII and short."""
    return name[:MAX_NAME_LENGTH].encode("ascii", "backslashreplace").decode("ascii")
