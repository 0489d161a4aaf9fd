"""Pages through rows, newest first, by an opaque cursor that stays valid while rows are added.

A cursor is a place in one listing, sealed with a key of ours: it is refused if it was changed, and with other filters,
another partner or another listing than those of the page that returned it.
"""

import base64
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Self, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework import serializers

from sweepapi.api.input.fields import StrictCharField
from sweepapi.api.input.reading import FORBIDDEN_FIELDS, forbidden, printable
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.errors import FieldError, InvalidRequest
from sweepapi.modes import Mode

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAYOUT = struct.Struct(">q16s")
_SEAL_BYTES = 16
_SALT = "sweepapi.api.input.pagination"
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a cursor belongs to: a listing as its partner filtered it."""

    listing: str
    partner_id: UUID
    mode: Mode
    filters: Mapping[str, Any]

    def seal(self, place: bytes) -> str:
        """Return a cursor to this place, in URL-safe base64."""
        return base64.urlsafe_b64encode(self._mac(place) + place).decode().rstrip("=")

    def unseal(self, cursor: str) -> bytes:
        """Return the place; raises InvalidRequest for anything that ``seal`` did not return for the same scope."""
        try:
            sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError:
            sealed = b""
        place = sealed[_SEAL_BYTES:]
        if not constant_time_compare(cursor.encode(errors="replace"), self.seal(place).encode()):
            message = "Use the nextCursor of a previous page, with the same filters."
            raise InvalidRequest(details=[FieldError("cursor", "invalid_format", message)])
        return place

    def _mac(self, place: bytes) -> bytes:
        described = json.dumps([self.listing, self.partner_id, self.mode, self.filters], default=str, sort_keys=True)
        return salted_hmac(_SALT, described.encode() + place, algorithm="sha256").digest()[:_SEAL_BYTES]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: its time, to the microsecond, and its id."""

    time: datetime
    id: UUID

    def encode(self, scope: Scope) -> str:
        """Return the cursor as callers see it."""
        return scope.seal(_LAYOUT.pack((self.time - _EPOCH) // _MICROSECOND, self.id.bytes))

    @classmethod
    def decode(cls, text: str, scope: Scope) -> Self:
        """Read a cursor back; raises InvalidRequest for anything that ``encode`` did not write."""
        micros, id_bytes = _LAYOUT.unpack(scope.unseal(text))
        return cls(time=_EPOCH + micros * _MICROSECOND, id=UUID(bytes=id_bytes))


class QuerySerializer(StrictSerializer):
    """The query parameters of a request."""

    @classmethod
    def read(cls, parameters: QueryDict, *, mode: Mode) -> dict[str, Any]:
        """Return the validated parameters of a key of this mode; raises for unknown, repeated and wrong ones."""
        repeated = [printable(name) for name, values in parameters.lists() if len(values) > 1]
        if repeated:
            message = "This parameter occurs twice."
            raise InvalidRequest(details=[FieldError(name, "duplicate_field", message) for name in repeated])
        if set_by_the_key := FORBIDDEN_FIELDS & parameters.keys():
            raise forbidden(sorted(set_by_the_key))
        query = cls(data=parameters.dict(), context={"mode": mode})
        query.is_valid(raise_exception=True)
        validated: dict[str, Any] = query.validated_data
        return validated


class LimitField(serializers.IntegerField):
    """A number of items, in decimal digits and nothing else: Python reads more as a number, such as ``1_0``."""

    def to_internal_value(self, data: str) -> int:  # type: ignore[override]  # a query has text only
        """Return the number."""
        if not (data.isascii() and data.removeprefix("-").isdigit()):
            self.fail("invalid")
        return super().to_internal_value(data)


class PageQuery(QuerySerializer):
    """The query parameters of every listing; a listing adds its filters."""

    cursor = StrictCharField(required=False, help_text="nextCursor of the previous page; omit for the newest.")
    limit = LimitField(
        required=False, default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT, help_text="Items per page."
    )


def newest_first(
    rows: QuerySet[M], *, time_field: str, scope: Scope, cursor: str | None, limit: int
) -> tuple[list[M], str | None]:
    """Return one page of rows and the cursor of the next, None at the end.

    ``time_field`` names the time to sort by, through relations with ``__``; ties are broken by a UUID primary key.
    """
    if cursor is not None:
        last = Cursor.decode(cursor, scope)
        older = Q(**{f"{time_field}__lt": last.time}) | Q(**{time_field: last.time}, pk__lt=last.id)
        rows = rows.filter(older, **{f"{time_field}__lte": last.time})
    page = list(rows.order_by(f"-{time_field}", "-pk")[: limit + 1])
    if len(page) <= limit:
        return page, None
    final = page[limit - 1]
    time = attrgetter(time_field.replace("__", "."))(final)
    return page[:limit], Cursor(time=time, id=final.pk).encode(scope)
