"""Our document of a swap API only restricts Jupiter's, whose names and types are recorded as facts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.swap_document import BUILD, DOCUMENT, FACTS, resolved


def types_of(schema: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema of our document allows."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return set().union(*map(types_of, schema["anyOf"]))
    return set(schema["type"]) if isinstance(schema["type"], list) else {schema["type"]}


def extensions(schema: dict[str, Any], fact: Any, path: str, marks: str = "") -> Iterator[str]:
    """Yield where a schema of our document allows what Jupiter's, of which this is the fact, does not."""
    schema = resolved(schema)
    kind = "object" if isinstance(fact, dict) else "array" if isinstance(fact, list) else fact
    allowed = {kind} | ({"integer"} if kind == "number" else set()) | ({"null"} if "?" in marks else set())
    if not types_of(schema) <= allowed:
        yield f"{path} has other types"
    if kind not in types_of(schema):
        return
    inner = resolved(schema["anyOf"][0]) if "anyOf" in schema else schema
    if isinstance(fact, list):
        yield from extensions(inner["items"], fact[0], f"{path}[]")
    elif isinstance(fact, dict) and "*" in fact:
        yield from extensions(inner["additionalProperties"], fact["*"], f"{path}.*")
    elif isinstance(fact, dict):
        yield from extensions_of_object(inner, fact, path)


def extensions_of_object(schema: dict[str, Any], fact: dict[str, Any], path: str) -> Iterator[str]:
    names = {name.rstrip("!?"): name for name in fact}
    if schema.get("additionalProperties") is not False or schema["properties"].keys() != names.keys():
        yield f"{path} has other fields"
    for name, marked in names.items():
        if "!" in marked and name not in schema["required"]:
            yield f"{path}.{name} may be missing"
        yield from extensions(schema["properties"][name], fact[marked], f"{path}.{name}", marked[len(name) :])


@pytest.mark.parametrize("status", [200, 400])
def test_every_answer_that_our_document_allows_is_one_of_jupiters(status: int) -> None:
    assert {str(documented) for documented in FACTS["answers"]} == BUILD["responses"].keys()
    schema = BUILD["responses"][str(status)]["content"]["application/json"]["schema"]
    assert list(extensions(schema, FACTS["answers"][status], "answer")) == []


@pytest.mark.parametrize(("path", "fact"), [("/tokens/v2/tag", "tokens"), ("/price/v3", "prices")])
def test_every_list_and_price_that_our_document_allows_is_one_of_jupiters(path: str, fact: str) -> None:
    answer = DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    documented = json.loads(json.dumps(FACTS[fact]))
    if fact == "tokens":  # of which ours names only what the local interface answers
        named = resolved(answer["items"])["properties"]
        documented = [{name: kind for name, kind in documented[0].items() if name.rstrip("!?") in named}]
    assert list(extensions(answer, documented, "answer")) == []


def test_every_request_that_our_document_allows_is_one_of_jupiters() -> None:
    ours = {parameter["name"]: parameter for parameter in BUILD["parameters"]}
    facts = {name.rstrip("!"): (fact, name.endswith("!")) for name, fact in FACTS["parameters"].items()}
    assert {name for name, (_, is_required) in facts.items() if is_required} <= {
        name for name, parameter in ours.items() if parameter["required"]
    }
    for name, parameter in ours.items():
        schema, fact = resolved(parameter["schema"]), facts[name][0]
        assert list(extensions(schema, fact["type"], name)) == []
        if "minimum" in fact:
            assert fact["minimum"] <= schema["minimum"] <= schema["maximum"] <= fact["maximum"]


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        ({"type": "number"}, "integer"),
        ({"type": ["string", "null"]}, "string"),
        ({"type": "array", "items": {"type": "boolean"}}, ["string"]),
        ({"type": "object", "additionalProperties": False, "properties": {"a": {"type": "string"}}}, {}),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "string"}),
        (
            {"type": "object", "additionalProperties": False, "required": [], "properties": {"a": {"type": "string"}}},
            {"a!": "string"},
        ),
    ],
)
def test_a_document_that_allows_more_than_jupiters_is_found(schema: dict[str, Any], fact: Any) -> None:
    assert len(list(extensions(schema, fact, "answer"))) == 1
