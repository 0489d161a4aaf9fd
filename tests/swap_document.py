"""Checks requests to a swap API, and its answers, against the document in ``vectors/swap_api.openapi.yaml``."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

VECTORS = Path(__file__).parent / "vectors"
DOCUMENT: dict[str, Any] = yaml.safe_load((VECTORS / "swap_api.openapi.yaml").read_text(encoding="utf-8"))
FACTS: dict[str, Any] = yaml.safe_load((VECTORS / "swap_api.facts.yaml").read_text(encoding="utf-8"))  # Jupiter's
BUILD: dict[str, Any] = DOCUMENT["paths"]["/build"]["get"]
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]*")


def request_problems(path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str]) -> list[str]:
    """Return where a GET request differs from the document."""
    return list(_request_problems(path, query, headers))


def answer_problems(status: int, body: bytes, *, path: str = "/build") -> list[str]:
    """Return where an answer differs from the document."""
    answer = _operation(path)["responses"].get(str(status))
    if answer is None:
        return [f"status {status} is not documented"]
    try:
        value = json.loads(body)
    except ValueError:
        return ["the body is not JSON"]
    return _differences(answer["content"]["application/json"]["schema"], value)


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of the document, or the one that it refers to."""
    return DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _operation(path: str) -> dict[str, Any]:
    """Return what the document says of a path, or of the usual one for a path that it does not have."""
    operation: dict[str, Any] = DOCUMENT["paths"].get(path, {"get": BUILD})["get"]
    return operation


def _request_problems(path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str]) -> Iterator[str]:
    if path not in DOCUMENT["paths"]:
        yield f"{path} is not documented"
    if not headers.get("x-api-key"):
        yield "the x-api-key header is missing"
    sent = dict(query)
    if len(sent) < len(query):
        yield "a parameter is sent twice"
    documented = {parameter["name"]: parameter for parameter in _operation(path)["parameters"]}
    yield from (f"{name} is not documented" for name in sent.keys() - documented.keys())
    for name, parameter in documented.items():
        if name in sent:
            value = _typed(sent[name], resolved(parameter["schema"])["type"])
            yield from (f"{name}: {problem}" for problem in _differences(parameter["schema"], value))
        elif parameter["required"]:
            yield f"{name} is missing"
    # The document can't say this about two parameters, except in words.
    if "platformFeeBps" in sent and (sent["platformFeeBps"] == "0") == ("feeAccount" in sent):
        yield "feeAccount belongs to a platform fee"


def _typed(text: str, kind: str) -> object:
    """Return the value that a query parameter of this type represents; text of another form stays text."""
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return int(text) if kind == "integer" and _WHOLE_NUMBER.fullmatch(text) else text


def _differences(schema: dict[str, Any], value: object) -> list[str]:
    validator = Draft202012Validator({**DOCUMENT, **schema})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
