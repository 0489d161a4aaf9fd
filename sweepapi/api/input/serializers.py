"""Serializers of requests, which refuse unknown fields: a misspelt one must never fall back to a default."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import empty
from rest_framework.settings import api_settings

from sweepapi.api.input.field_codes import public_code
from sweepapi.api.input.lists import StrictListSerializer
from sweepapi.api.input.reading import printable
from sweepapi.errors import MAX_DETAILS, FieldError, ForbiddenField

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


_MOST = MAX_DETAILS + 1  # are looked for; one more than are shown says that there are more


class StrictSerializer(serializers.Serializer[Any]):
    """A body, or an object in one, that may have only known fields.

    Forbidden fields at any depth are refused first, whatever else is wrong.
    """

    has_one_field: ClassVar[bool] = False  # exactly one of its fields; ``validate`` requires that

    class Meta:
        list_serializer_class = StrictListSerializer

    def run_validation(self, data: Any = empty) -> Any:  # noqa: ANN401 DRF's own
        """Raise ForbiddenField or ValidationError, or return the validated data."""
        if self.parent is None:
            refuse_forbidden_fields(data)
        return super().run_validation(data)

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


def refuse_forbidden_fields(body: object) -> None:
    """Raise ForbiddenField, naming each place, if the body has fields that only the API key may set."""
    if not any(name in FORBIDDEN_FIELDS for name in _names(body)):
        return
    places = (path for path, name in _paths(body, "") if name in FORBIDDEN_FIELDS)
    message = "This is set by your API key and cannot be sent."
    raise ForbiddenField(details=[FieldError(path, "forbidden_field", message) for path in islice(places, _MOST)])


def _names(body: object) -> Iterator[str]:
    """Yield the name of every object member, which takes a fifth of the time of its path."""
    left = [body]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            yield from value
            left += value.values()
        elif isinstance(value, list):
            left += value


def _paths(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of every object member; the parser has bounded the depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            inner_path = _join(path, printable(name))
            yield inner_path, name
            yield from _paths(inner, inner_path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, f"{path}[{index}]")


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
