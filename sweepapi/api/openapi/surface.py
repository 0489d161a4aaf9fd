"""Reduces the OpenAPI document to what clients depend on, so that two versions of the API can be compared."""

from typing import Any

_METHODS = ("get", "post", "patch", "delete")
_FOR_PEOPLE = ("description", "examples", "title")
_OBJECT_KEYWORDS = ("type", "properties", "required", "additionalProperties")


def surface(document: dict[str, Any]) -> dict[str, Any]:
    """Return ``operations`` with parameters, body, answers and codes, ``messages`` with their type, and ``types``.

    Schemas are without what is for people only, and a type is an object with a name.
    """
    schemas = document["components"]["schemas"]
    return {
        "operations": {
            f"{method.upper()} {path}": _operation(document, operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if method in _METHODS
        },
        "messages": {
            name: _plain(message["post"]["requestBody"]["content"]["application/json"]["schema"])
            for name, message in document["webhooks"].items()
        },
        "types": {name: _plain(schema) for name, schema in schemas.items() if name not in ("Failure", "ApiError")},
    }


def _operation(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    answers = {
        status: _plain(response["content"]["application/json"]["schema"]["properties"]["data"])
        for status, response in operation["responses"].items()
        if status.startswith("2")
    }
    found: dict[str, Any] = {
        "answers": answers,
        "codes": sorted(_codes(document, operation)),
        "parameters": {
            parameter["name"]: {
                "in": parameter["in"],
                "required": parameter.get("required", False),
                "schema": _plain(parameter["schema"]),
            }
            for parameter in operation.get("parameters", ())
        },
        "deprecated": operation.get("deprecated", False),
    }
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        found["body"] = {"required": body.get("required", False), "schema": _plain(schema)}
    return found


def _codes(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    components = document["components"]
    responses = [
        components["responses"][response["$ref"].rpartition("/")[2]]
        for response in operation["responses"].values()
        if "$ref" in response
    ]
    names = [name for response in responses for name in response["content"]["application/json"]["examples"]]
    return {components["examples"][name]["value"]["error"]["code"] for name in names}


def _plain(node: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema without what is for people; a property that has the name of a keyword stays."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in _FOR_PEOPLE}
    if list(kept) == ["allOf"] and len(kept["allOf"]) == 1:
        return _plain(kept["allOf"][0])
    return {
        key: {name: _plain(schema) for name, schema in value.items()} if key == "properties" else _plain(value)
        for key, value in kept.items()
    }
