"""Lists in bodies: their length is checked before any item, and items are validated until enough is wrong with them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from sweepapi.errors import MAX_DETAILS

T = TypeVar("T")


class StrictListField(serializers.ListField):
    """A list of values."""

    def to_internal_value(self, data: Any) -> list[Any]:  # noqa: ANN401 DRF's own
        """Return the validated items."""
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)

    def run_child_validation(self, data: list[Any]) -> list[Any]:
        """Return the validated items; DRF validates all of them, whatever is wrong."""
        return validated_items(data, self.child.run_validation)


class StrictListSerializer(serializers.ListSerializer[Any]):
    """A list of objects; DRF makes it of ``many=True``, which has to bound the length."""

    max_length: int
    allow_empty: bool

    def to_internal_value(self, data: Any) -> list[Any]:  # noqa: ANN401 DRF's own
        """Return the validated items; DRF refuses another type, or another length, before any item."""
        if isinstance(data, list) and int(not self.allow_empty) <= len(data) <= self.max_length:
            return validated_items(data, self.run_child_validation)
        items: list[Any] = super().to_internal_value(data)
        return items


def validated_items(items: Iterable[Any], validate: Callable[[Any], T]) -> list[T]:
    """Return the validated items, or raise ValidationError for those with the first problems.

    One more than are shown is found, so that it is known that there are more.
    """
    validated: list[T] = []
    problems: dict[int, Any] = {}
    found = 0
    for index, item in enumerate(items):
        try:
            validated.append(validate(item))
        except ValidationError as error:
            problems[index] = error.detail
            found += _count(error.detail)
            if found > MAX_DETAILS:
                break
    if problems:
        raise ValidationError(problems)  # type: ignore[arg-type]  # DRF renders a mapping by index
    return validated


def _count(detail: object) -> int:
    if isinstance(detail, ErrorDetail):
        return 1
    if isinstance(detail, Mapping):
        return sum(map(_count, detail.values()))
    return sum(map(_count, detail)) if isinstance(detail, list) else 0
