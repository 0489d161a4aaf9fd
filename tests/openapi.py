"""Validates JSON against the OpenAPI document, more strictly than clients should: unknown fields fail."""

from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator


def assert_documented(response: Any, *, path: str) -> None:
    """Fail unless the document describes this response to a POST or GET of this path, field for field."""
    document = Client().get("/v2/openapi.json").json()
    method = response.wsgi_request.method.lower()
    answer = document["paths"][path][method]["responses"][str(response.status_code)]
    assert problems(document, answer["content"]["application/json"]["schema"], response.json()) == []


def problems(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    """Return where a value differs from a schema of the document."""
    root = _closed({**schema, "components": document["components"]})
    validator = Draft202012Validator(root, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def _closed(node: Any) -> Any:
    """Forbid fields that the document does not name, unless it says so; it leaves responses open for new ones."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed
