"""Reads request bodies as strict JSON, each within the budget of its operation."""

from collections.abc import Mapping
from typing import IO, Any, ClassVar

from django.http import UnreadablePostError
from rest_framework import serializers
from rest_framework.parsers import BaseParser

from sweepapi.api.input.budgets import MAX_BODY_BYTES, budget_of
from sweepapi.api.input.reading import read_json
from sweepapi.errors import InvalidRequest, PayloadTooLarge


class RawJSONParser(BaseParser):
    """The bytes of a body of at most 256 KiB, for views that answer in their own way what is wrong with it."""

    media_type = "application/json"
    max_bytes: ClassVar = MAX_BODY_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 DRF passes both
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 as DRF's own
        """Return the body. Raises PayloadTooLarge and InvalidRequest."""
        return _read(stream, self.max_bytes)


class StrictJSONParser(BaseParser):
    """One JSON object in UTF-8, without duplicate names, NaN or lone surrogates.

    A view names the serializer of each action that takes a body as its ``bodies``.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 DRF passes it
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the body's object. Raises PayloadTooLarge and InvalidRequest."""
        view = (parser_context or {})["view"]
        body: type[serializers.Serializer[Any]] = view.bodies[view.action]
        budget = budget_of(body)
        value = read_json(_read(stream, budget.bytes), budget)
        if not isinstance(value, dict):
            raise InvalidRequest("The body must be a JSON object.")
        return value


def _read(stream: IO[Any], max_bytes: int) -> bytes:
    try:
        raw: bytes = stream.read(max_bytes + 1)
    except UnreadablePostError as error:
        raise InvalidRequest("The body ended before it was complete.") from error
    if len(raw) > max_bytes:
        raise PayloadTooLarge
    return raw
