"""Renders with serializers that are made once, because copying their fields takes longer than rendering."""

from functools import cache
from typing import Any

from rest_framework.serializers import Serializer


def rendered(kind: type[Serializer[Any]], instance: object) -> dict[str, Any]:
    """Return the JSON of an instance."""
    return _serializer(kind).to_representation(instance)


@cache
def _serializer(kind: type[Serializer[Any]]) -> Serializer[Any]:
    return kind()
