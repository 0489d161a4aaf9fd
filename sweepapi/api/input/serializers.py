"""Serializers of requests, which refuse unknown fields: a misspelt one must never fall back to a default."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.settings import api_settings

from sweepapi.api.input.field_codes import public_code
from sweepapi.api.input.lists import StrictListSerializer
from sweepapi.api.input.reading import printable
from sweepapi.errors import MAX_DETAILS, FieldError

_MOST = MAX_DETAILS + 1  # are looked for; one more than are shown says that there are more


class StrictSerializer(serializers.Serializer[Any]):
    """A body, or an object in one, that may have only known fields."""

    has_one_field: ClassVar[bool] = False  # exactly one of its fields; ``validate`` requires that

    class Meta:
        list_serializer_class = StrictListSerializer

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 DRF's own
        """Report unknown fields together with what is wrong with the known ones."""
        if not isinstance(data, Mapping):
            problem = ErrorDetail("This must be an object.", "invalid_type")
            raise ValidationError({api_settings.NON_FIELD_ERRORS_KEY: [problem]})
        unknown = islice((name for name in data if name not in self.fields), _MOST)
        problems: dict[str, Any] = {
            printable(name): [ErrorDetail("No such field.", "unknown_field")] for name in unknown
        }
        if len(problems) == _MOST:
            raise ValidationError(problems)
        try:
            validated = super().to_internal_value(data)
        except ValidationError as error:
            raise ValidationError({**problems, **error.detail}) from error  # type: ignore[dict-item]
        if problems:
            raise ValidationError(problems)
        return validated


@extend_schema_serializer(examples=[OpenApiExample("Nothing to say", value={})])
class EmptyRequestSerializer(StrictSerializer):
    """An empty object, or no body at all."""


class ForeignSerializer(serializers.Serializer[Any]):
    """An object in a body whose shape another standard defines; what is not read may be anything."""

    class Meta:
        list_serializer_class = StrictListSerializer


def field_errors(detail: object, path: str = "") -> Iterator[FieldError]:
    """Flatten the nested detail of DRF's ValidationError to paths such as ``tokens[2].amount``."""
    if isinstance(detail, ErrorDetail):
        yield FieldError(field=path, code=public_code(detail.code or "invalid"), message=str(detail))
    elif isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from field_errors(inner, _join(path, name))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            yield from field_errors(inner, path if isinstance(inner, ErrorDetail) else f"{path}[{index}]")


def _join(path: str, name: str | int) -> str:
    if name == api_settings.NON_FIELD_ERRORS_KEY:
        return path
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
