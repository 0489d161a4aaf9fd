"""The part of the OpenAPI document that all operations share: the envelope, the errors, and what requests may hold."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema_serializer
from rest_framework import serializers

from sweepapi import errors
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.field_codes import FIELD_CODES
from sweepapi.api.input.fields import AmountOutputField, OpenEnumField
from sweepapi.api.openapi.links import add_links
from sweepapi.api.requests.negotiation import PROBLEM_JSON
from sweepapi.api.requests.retirement import RETIRED


class FieldErrorSerializer(serializers.Serializer[errors.FieldError]):
    """What is wrong with one field."""

    field = serializers.CharField(help_text="A path such as tokens[2].amount.")
    code = OpenEnumField(values=FIELD_CODES, help_text="Stable; new codes may be added.")
    message = serializers.CharField(help_text="For people; may change.")
    value = AmountOutputField(
        required=False,
        allow_null=True,
        help_text="Only of refused tokens, as in `tokens_refused`: the value of the expected output, in the smallest "
        "unit of the chain's reference stablecoin; null if it can't be swapped or has no price.",
    )


# A client generated with a type named `Error` would hide that of its language.
@extend_schema_serializer(component_name="ApiError")
class ErrorSerializer(serializers.Serializer[errors.SweepApiError]):
    """Why a request failed."""

    code = OpenEnumField(values=[row.code for row in ERROR_TABLE.values()], help_text="Stable; new codes may be added.")
    message = serializers.CharField(help_text="For people; may change.")
    details = FieldErrorSerializer(many=True)
    retryable = serializers.BooleanField(help_text="Whether the same request can succeed later.")
    requestId = serializers.CharField(help_text="As in the X-Request-Id header.")
    docUrl = serializers.CharField(help_text="Where the code is explained.")


class StrictObjects(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Closes the objects of requests and bounds their lists, as the serializers do."""

    target_class = "sweepapi.api.input.serializers.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ANN401 drf-spectacular's own
        count = {"minProperties": 1, "maxProperties": 1} if self.target.has_one_field else {}
        return {**_with_bounds(self.target, auto_schema, direction), **count, "additionalProperties": False}


class PlainStrings(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Excludes the character that PostgreSQL can't store, and the empty text unless it is allowed, as the fields do."""

    target_class = "sweepapi.api.input.fields.StrictCharField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ANN401 drf-spectacular's own
        schema = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)  # noqa: SLF001 as documented
        return {**({} if self.target.allow_blank else {"minLength": 1}), **schema, "pattern": r"^[^\x00]*$"}


class ForeignObjects(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Leaves these objects open, and bounds them, as the serializers do."""

    target_class = "sweepapi.api.input.serializers.ForeignSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ANN401 drf-spectacular's own
        schema = _with_bounds(self.target, auto_schema, direction)
        return {**schema, "additionalProperties": True}


def _with_bounds(target: Any, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ANN401 drf-spectacular's own
    """Return the schema of a serializer, with the bounds of its lists."""
    schema: dict[str, Any] = auto_schema._map_serializer(target, direction, bypass_extensions=True)  # noqa: SLF001 as documented
    for name, field in target.fields.items():
        if isinstance(field, serializers.ListSerializer):
            longest = field.max_length  # type: ignore[attr-defined]  # missing in the stubs
            schema["properties"][name] |= {"minItems": int(not field.allow_empty), "maxItems": longest}
    return schema


def example(
    file: Path,
    name: str,
    *,
    without: Collection[str] = (),
    adding: Mapping[str, Any] | None = None,
    **choices: Any,  # noqa: ANN401 drf-spectacular's own
) -> OpenApiExample:
    """Return an example answer for ``extend_schema_serializer``; the file contains its ``data``, or nearly so."""
    data = json.loads(file.read_text(encoding="utf-8")) | (adding or {})
    kept = {field: value for field, value in data.items() if field not in without}
    return OpenApiExample(name, value=kept, response_only=True, **choices)


def failures(operation_id: str) -> dict[int, OpenApiResponse]:
    """Return the responses to each status that an operation can fail with."""
    by_status: dict[int, list[type[errors.SweepApiError]]] = {}
    for error, row in ERROR_TABLE.items():
        if operation_id in row.operations:
            by_status.setdefault(row.status, []).append(error)
    return {
        status: OpenApiResponse(
            ErrorSerializer,
            description="\n".join(f"- `{ERROR_TABLE[error].code}`: {error.default_message()}" for error in those),
            examples=[_failure(error) for error in those],
        )
        for status, those in by_status.items()
    }


def _failure(error: type[errors.SweepApiError]) -> OpenApiExample:
    row = ERROR_TABLE[error]
    value = {
        "code": row.code,
        "message": error.default_message(),
        "details": [] if row.example is None else [asdict(row.example)],
        "retryable": row.retryable,
        "requestId": "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071",
        "docUrl": f"https://api.example.com/docs/errors#{row.code}",
    }
    return OpenApiExample(row.code, value=value)


# Answers that are given before a request is counted.
_UNCOUNTED = ("401", "403")
_RETRIED_LATER = ("429", "503")
_RATE_LIMIT_FIELDS = ("RateLimit-Policy", "RateLimit")
_HEADER_FIELDS = {
    "RateLimit-Policy": {
        "description": "The tightest limit that counts this request, by draft-ietf-httpapi-ratelimit-headers-10: `q` "
        "requests at once, which are refilled evenly within `w` seconds.",
        "schema": {"type": "string", "examples": ['"build";q=60;w=3']},
    },
    "RateLimit": {
        "description": "What is left of it: `r` requests, and in `t` seconds all of them.",
        "schema": {"type": "string", "examples": ['"build";r=59;t=1']},
    },
    "Retry-After": {
        "description": "After how many seconds to repeat the request; absent where the service does not know.",
        "schema": {"type": "integer", "minimum": 1},
    },
}
# Of the messages to partners, by Standard Webhooks.
_MESSAGE_HEADERS = [
    {"name": name, "in": "header", "required": True, "description": description, "schema": schema}
    for name, description, schema in (
        ("webhook-id", "Of the message; the same whenever it is sent again.", {"type": "string", "format": "uuid"}),
        (
            "webhook-timestamp",
            "When this was sent, in seconds since 1970; refuse what is more than five minutes away from your time.",
            {"type": "integer", "examples": [1772443872]},
        ),
        (
            "webhook-signature",
            (
                "`v1,` and, in base64, HMAC-SHA256 under your secret (decoded, without `whsec_`) over "
                "`{webhook-id}.{webhook-timestamp}.{body}`. After a rotation two, with a space between: one must match."
            ),
            {"type": "string", "examples": ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="]},
        ),
    )
]


def finish(result: dict[str, Any], **_kwargs: object) -> dict[str, Any]:
    """Wrap all answers in the envelope, as the service does, and complete what drf-spectacular leaves out."""
    schemas = result["components"]["schemas"]
    result["components"]["headers"] = _HEADER_FIELDS
    _tidy(schemas)
    schemas["Failure"] = _failure_schema()
    for url, path in result["paths"].items():
        for method, operation in path.items():
            if f"{method.upper()} {url}" in RETIRED:
                operation["deprecated"] = True
            operation.setdefault("security", [])  # explicitly public
            _require_body(operation, schemas)
            for status, response in operation["responses"].items():
                _wrap(response, schemas, ok=status.startswith("2"))
                if operation["security"] and status not in _UNCOUNTED:
                    _add_headers(response, *_RATE_LIMIT_FIELDS)
                if _may_say_when_to_retry(status, response):
                    _add_headers(response, "Retry-After")
    for webhook in result["webhooks"].values():
        webhook["post"] |= {"security": [], "parameters": _MESSAGE_HEADERS}
    add_links(result["paths"])
    return result


def _require_body(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Require a body that has to have some field; drf-spectacular does so only for fields that it has to have."""
    body = operation.get("requestBody")
    if body is None:
        return
    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    if schemas[name].get("minProperties"):
        body["required"] = True


def _add_headers(response: dict[str, Any], *names: str) -> None:
    fields = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    response["headers"] = {**response.get("headers", {}), **fields}


def _may_say_when_to_retry(status: str, response: dict[str, Any]) -> bool:
    examples = response["content"]["application/json"].get("examples", {}).values()
    codes = {example["value"].get("error", {}).get("code") for example in examples}
    return status in _RETRIED_LATER or ERROR_TABLE[errors.IdempotencyInProgress].code in codes


def _failure_schema() -> dict[str, Any]:
    """Return the schema of the envelope of a failure, to which RFC 9457 adds members."""
    schema = _envelope(ok=False, error={"$ref": "#/components/schemas/ApiError"})
    of_problems = {
        "type": {"type": "string", "description": "The docUrl."},
        "title": {"type": "string", "description": "What the code means; for people."},
        "status": {"type": "integer", "description": "As the HTTP status."},
        "detail": {"type": "string", "description": "The message."},
        "instance": {"type": "string", "description": "A URN with the requestId."},
    }
    schema["properties"] |= of_problems
    description = (
        "The envelope of every failure. If the Accept header names application/problem+json, it is a problem document "
        f"(RFC 9457) as well: it has {', '.join(f'`{name}`' for name in of_problems)}."
    )
    return {**schema, "description": description}


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
        response["content"][PROBLEM_JSON] = {"schema": media["schema"]}
    for shown in media.get("examples", {}).values():
        shown["value"] = {"ok": ok, "data" if ok else "error": shown["value"]}


def _envelope(*, ok: bool, **content: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ok": {"type": "boolean", "const": ok}, **content},
        "required": ["ok", *content],
    }
