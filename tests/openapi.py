"""Validates responses against the OpenAPI document."""

from typing import Any

from django.test import Client
from jsonschema import Draft7Validator  # type: ignore[import-untyped]


def assert_documented(response: Any, *, path: str) -> None:
    """Fail unless the document describes this response to a POST or GET of this path, field for field."""
    document = Client().get("/v2/openapi.json").json()
    method = response.wsgi_request.method.lower()
    answer = document["paths"][path][method]["responses"][str(response.status_code)]
    schema = answer["content"]["application/json"]["schema"]
    root = _as_json_schema({**schema, "components": document["components"]})
    errors = [f"{error.json_path}: {error.message}" for error in Draft7Validator(root).iter_errors(response.json())]
    assert errors == []


def _as_json_schema(node: Any) -> Any:
    """Translate OpenAPI 3.0's ``nullable``, and forbid fields that the document does not name."""
    if isinstance(node, list):
        return [_as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    translated = {key: _as_json_schema(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and "additionalProperties" not in node:
        translated["additionalProperties"] = False
    if translated.pop("nullable", False):
        return {"anyOf": [translated, {"type": "null"}]}
    return translated
