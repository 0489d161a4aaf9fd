"""The part of the OpenAPI document that all operations share: the envelope, the errors, and what requests may hold."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers

from sweepapi import errors
from sweepapi.api.error_table import ERROR_TABLE
from sweepapi.api.field_codes import FIELD_CODES
from sweepapi.api.fields import OpenEnumField
from sweepapi.errors import FieldError

_ALWAYS = (errors.MethodNotAllowed, errors.NotAcceptable, errors.InternalError, errors.ServiceUnavailable)
_WITH_KEY = (errors.MissingApiKey, errors.InvalidApiKey, errors.PartnerSuspended)
_WITH_BODY = (errors.InvalidRequest, errors.ForbiddenField, errors.PayloadTooLarge, errors.UnsupportedMediaType)
# The details in the examples of errors.
_EXAMPLE_DETAILS = {
    errors.InvalidRequest: FieldError("slippageBps", "required", "This field is required."),
    errors.ForbiddenField: FieldError(
        "partnerId", "forbidden_field", "This is set by your API key and cannot be sent."
    ),
    errors.UnsupportedChain: FieldError("chain", "unsupported", "GET /v2/status lists the chains."),
    errors.NoRoute: FieldError("tokens[0].mint", "no_route", "No router can swap this amount."),
    errors.InsufficientOutput: FieldError(
        "tokens[0].amount", "output_too_small", "The minimum output of this amount rounds to zero."
    ),
    errors.EventMismatch: FieldError("event", "missing", "The contract emitted no SweepExecutedV5."),
    errors.TransactionReverted: FieldError(
        "tokens[0].mint",
        "reverted",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913: The price moved: the output was below the minimum.",
    ),
    errors.SweepAlreadyConfirmed: FieldError(
        "txHash", "accepted_hash", "0xcc34ef733b8d502b098225ac606aa9d0544c89db9b12e70082e7e4f361bedfee"
    ),
}


class FieldErrorSerializer(serializers.Serializer[errors.FieldError]):
    """What is wrong with one field."""

    field = serializers.CharField(help_text="A path such as tokens[2].amount.")
    code = OpenEnumField(values=FIELD_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField(help_text="For people; may change.")


class ErrorSerializer(serializers.Serializer[errors.SweepApiError]):
    """Why a request failed."""

    code = OpenEnumField(values=[row.code for row in ERROR_TABLE.values()], help_text="Stable; new codes may be added.")
    message = serializers.CharField(help_text="For people; may change.")
    details = FieldErrorSerializer(many=True)
    retryable = serializers.BooleanField(help_text="Whether the same request can succeed later.")
    requestId = serializers.CharField(help_text="As in the X-Request-Id header.")


class StrictObjects(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Closes the objects of requests and bounds their lists, as the serializers do."""

    target_class = "sweepapi.api.serializers.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ANN401 drf-spectacular's own
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)  # noqa: SLF001 as documented
        for name, field in self.target.fields.items():
            if isinstance(field, serializers.ListSerializer):
                longest = field.max_length  # type: ignore[attr-defined]  # missing in the stubs
                schema["properties"][name] |= {"minItems": int(not field.allow_empty), "maxItems": longest}
        return {**schema, "additionalProperties": False}


def example(file: Path, name: str, **choices: Any) -> OpenApiExample:  # noqa: ANN401 drf-spectacular's own
    """Return an example answer for ``extend_schema_serializer``; the file contains its ``data``."""
    return OpenApiExample(name, value=json.loads(file.read_text(encoding="utf-8")), response_only=True, **choices)


def public_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of a public operation: its own errors and those of every operation."""
    by_status: dict[int, list[type[errors.SweepApiError]]] = {}
    given: tuple[type[errors.SweepApiError], ...] = (*own, *_ALWAYS)
    for error in given:
        by_status.setdefault(ERROR_TABLE[error].status, []).append(error)
    return {
        status: OpenApiResponse(
            ErrorSerializer,
            description="\n".join(f"- `{ERROR_TABLE[error].code}`: {error.default_message()}" for error in those),
            examples=[_failure(error) for error in those],
        )
        for status, those in sorted(by_status.items())
    }


def _failure(error: type[errors.SweepApiError]) -> OpenApiExample:
    row, detail = ERROR_TABLE[error], _EXAMPLE_DETAILS.get(error)
    value = {
        "code": row.code,
        "message": error.default_message(),
        "details": [] if detail is None else [asdict(detail)],
        "retryable": row.retryable,
        "requestId": "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071",
    }
    return OpenApiExample(row.code, value=value)


def partner_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of an operation that needs an API key."""
    return public_errors(*own, *_WITH_KEY)


def body_errors(*own: type[errors.SweepApiError]) -> dict[int, OpenApiResponse]:
    """Return the failure responses of an operation that needs an API key and takes a body."""
    return partner_errors(*_WITH_BODY, *own)


def finish(result: dict[str, Any], **_kwargs: object) -> dict[str, Any]:
    """Wrap all answers in the envelope, as the service does, and complete what drf-spectacular leaves out."""
    schemas = result["components"]["schemas"]
    _tidy(schemas)
    failure = _envelope(ok=False, error={"$ref": "#/components/schemas/Error"})
    schemas["Failure"] = {**failure, "description": "The envelope of every failure."}
    for path in result["paths"].values():
        for operation in path.values():
            operation.setdefault("security", [])  # explicitly public
            for status, response in operation["responses"].items():
                _wrap(response, schemas, ok=status.startswith("2"))
    return result


def _tidy(schemas: dict[str, Any]) -> None:
    """Drop drf-spectacular's marks on computed fields: every field of a response is read-only."""
    for schema in schemas.values():
        for name, field in schema.get("properties", {}).items():
            field.pop("readOnly", None)
            if list(field) == ["allOf"]:
                (schema["properties"][name],) = field["allOf"]


def _wrap(response: dict[str, Any], schemas: dict[str, Any], *, ok: bool) -> None:
    media = response["content"]["application/json"]
    if ok:
        # A success has the description of its data.
        response["description"] = schemas[media["schema"]["$ref"].rpartition("/")[2]]["description"]
        media["schema"] = _envelope(ok=True, data=media["schema"])
    else:
        media["schema"] = {"$ref": "#/components/schemas/Failure"}
    for shown in media.get("examples", {}).values():
        shown["value"] = {"ok": ok, "data" if ok else "error": shown["value"]}


def _envelope(*, ok: bool, **content: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "const": ok}, **content},
        "required": ["ok", *content],
    }
