"""The query parameters of listings that are filtered by chain and time."""

from typing import Any, ClassVar

from rest_framework import serializers

from sweepapi.api.input.chains import ChainField
from sweepapi.api.input.fields import UtcDateTimeField
from sweepapi.api.input.pagination import PageQuery


class ListQuery(PageQuery):
    """Which part of a listing to return."""

    verb: ClassVar[str]  # says in the documentation what happened to an item at its time

    chain = ChainField(
        required=False, source="network", help_text="Name of a chain, as in GET /v1/status or GET /v2/status."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add ``from``, which is a Python keyword, and ``to``."""
        since = UtcDateTimeField(required=False, source="since", help_text=f"{self.verb} at or after this time.")
        until = UtcDateTimeField(required=False, source="until", help_text=f"{self.verb} before this time.")
        return {**super().get_fields(), "from": since, "to": until}
