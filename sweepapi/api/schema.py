"""The part of the OpenAPI document that all operations share: the envelope and the error responses."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from sweepapi import errors
from sweepapi.api.error_table import ERROR_TABLE

_ALWAYS = (errors.MethodNotAllowed, errors.NotAcceptable, errors.InternalError, errors.ServiceUnavailable)
_WITH_KEY = (errors.MissingApiKey, errors.InvalidApiKey, errors.PartnerSuspended)
_WITH_BODY = (errors.InvalidRequest, errors.ForbiddenField, errors.PayloadTooLarge, errors.UnsupportedMediaType)


class FieldErrorSerializer(serializers.Serializer[errors.FieldError]):
    """What is wrong with one field."""

    field = serializers.CharField(help_text="A path such as tokens[2].amount.")
    code = serializers.CharField()
    message = serializers.CharField()


class ErrorSerializer(serializers.Serializer[errors.SweepApiError]):
    """Why a request failed."""

    code = serializers.CharField(help_text="Stable; new codes may be added.")
    message = serializers.CharField(help_text="For people; may change.")
    details = FieldErrorSerializer(many=True)
    retryable = serializers.BooleanField(help_text="Whether the same request can succeed later.")
    requestId = serializers.CharField(help_text="As in the X-Request-Id header.")


class FailureSerializer(serializers.Serializer[errors.SweepApiError]):
    """The envelope of a failure."""

    ok = serializers.BooleanField(default=False)
    error = ErrorSerializer()


def public_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of a public operation: its own errors and those of every operation."""
    by_status: dict[int, list[type[errors.SweepApiError]]] = {}
    given: tuple[type[errors.SweepApiError], ...] = (*own, *_ALWAYS)
    for error in given:
        by_status.setdefault(ERROR_TABLE[error].status, []).append(error)
    return {
        status: OpenApiResponse(
            FailureSerializer,
            description="\n".join(f"- `{ERROR_TABLE[error].code}`: {error.default_message()}" for error in those),
        )
        for status, those in sorted(by_status.items())
    }


def partner_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of an operation that needs an API key."""
    return public_errors(*own, *_WITH_KEY)


def body_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of an operation that needs an API key and takes a body."""
    return partner_errors(*_WITH_BODY, *own)


def wrap_in_envelope(result: dict[str, Any], **_kwargs: object) -> dict[str, Any]:
    """Wrap the schema of every success in the envelope, as the renderer wraps the data."""
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    media = response["content"]["application/json"]
                    media["schema"] = _envelope(media["schema"])
    return result


def _envelope(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "enum": [True]}, "data": data},
        "required": ["ok", "data"],
    }
