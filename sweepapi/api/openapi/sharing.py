"""Makes the OpenAPI document small to send and read: what many operations repeat stands once in its components.

Of each kind of answer the document has one example, if that is short. The others are files of their own, to which the
description of the answer has links: an ``externalValue`` would be read as a file by tools that have only the document.
"""

import re
from collections.abc import Iterator
from typing import Any

_MOST_CHARACTERS = 2_500  # of an example in the document


def share(document: dict[str, Any]) -> dict[str, Any]:
    """Have operations refer to failures and examples in ``components``; return the values of the other examples.

    A failure is named after its codes, an example of a success after the schema of its data and itself. Those returned
    are served at ``/docs/examples/{name}.json``.
    """
    components, long_examples = document["components"], dict[str, Any]()
    components |= {"responses": {}, "examples": {}}
    for operation in _operations(document):
        for status, response in operation["responses"].items():
            media = response["content"]["application/json"]
            if status.startswith("2"):
                _take_out(response, long_examples)
            _share_examples(components, media)
            if not status.startswith("2"):
                operation["responses"][status] = _shared(components, "responses", _name(response, operation), response)
    return long_examples


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def _take_out(response: dict[str, Any], taken: dict[str, Any]) -> None:
    """Name the examples after their schema, and move what is long, and all but the first, to ``taken``."""
    media = response["content"]["application/json"]
    schema = media["schema"]["properties"]["data"]["$ref"].rpartition("/")[2]
    kept: dict[str, Any] = {}
    links = []
    for title, example in media["examples"].items():
        name = f"{schema}.{re.sub(r'[^A-Za-z0-9]', '', title)}"
        if not kept and len(str(example["value"])) <= _MOST_CHARACTERS:
            kept[name] = example
        else:
            taken[name] = example["value"]
            links.append(f"[{example.get('summary', title)}](/docs/examples/{name}.json)")
    media["examples"] = kept
    if links:
        response["description"] += f" Examples: {', '.join(links)}."


def _share_examples(components: dict[str, Any], media: dict[str, Any]) -> None:
    examples = media.pop("examples")
    if examples:
        media["examples"] = {name: _shared(components, "examples", name, one) for name, one in examples.items()}


def _name(failure: dict[str, Any], operation: dict[str, Any]) -> str:
    codes = "Or".join(failure["content"]["application/json"]["examples"])  # which have them as names
    return codes if operation["security"] else f"{codes}Uncounted"


def _shared(components: dict[str, Any], kind: str, name: str, value: dict[str, Any]) -> dict[str, str]:
    """Put a value there and return the reference to it; raises ``ValueError`` if another one has its name."""
    if components[kind].setdefault(name, value) != value:
        raise ValueError(f"two {kind} are called {name}")
    return {"$ref": f"#/components/{kind}/{name}"}
