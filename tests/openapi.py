"""Validates JSON against the OpenAPI document, more strictly than clients should: unknown fields fail."""

import re
from functools import cache
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator

LINKED_EXAMPLE = re.compile(r"\[([^]]+)\]\((/docs/examples/[^)]+\.json)\)")


@cache
def served() -> dict[str, Any]:
    """Return the document, to be read only; generating it takes half a second, and it depends only on the code."""
    found: dict[str, Any] = Client().get("/v2/openapi.json").json()
    return found


@cache
def document() -> dict[str, Any]:
    """Return the document with all but schemas in its place, long examples included, to be read only."""
    resolved: dict[str, Any] = _resolved(served())
    return resolved


def _resolved(node: Any) -> Any:
    if isinstance(node, list):
        return [_resolved(item) for item in node]
    if not isinstance(node, dict):
        return node
    if (pointer := node.get("$ref", "").removeprefix("#/components/")) and not pointer.startswith("schemas/"):
        kind, name = pointer.split("/")
        return _resolved(served()["components"][kind][name])
    resolved = {key: _resolved(value) for key, value in node.items()}
    for name, url in LINKED_EXAMPLE.findall(node["description"]) if "content" in node and "description" in node else ():
        resolved["content"]["application/json"].setdefault("examples", {})[name] = {"value": Client().get(url).json()}
    return resolved


def assert_documented(response: Any, *, path: str) -> None:
    """Fail unless the document describes this response to a POST or GET of this path, field for field."""
    method = response.wsgi_request.method.lower()
    answer = document()["paths"][path][method]["responses"][str(response.status_code)]
    assert problems(answer["content"]["application/json"]["schema"], response.json()) == []


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    """Return where a value differs from a schema of the document."""
    root = {**_closed(schema), "components": _closed_components()}
    validator = Draft202012Validator(root, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@cache
def _closed_components() -> Any:
    return _closed(document()["components"])


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
