"""The OpenAPI document and its long examples as they are served: made once in a process, from the code alone."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from rest_framework.utils.encoders import JSONEncoder

from sweepapi.api.openapi.sharing import share

_building = Lock()


@dataclass(frozen=True, slots=True)
class Representation:
    """The document in one encoding, with the ETag that no other one has."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class Document:
    """The document as it is, and compressed, and the examples that it refers to, by name."""

    plain: Representation
    zipped: Representation
    examples: Mapping[str, bytes]


def document() -> Document:
    """Return the document; of several threads that want it first, one builds it."""
    with _building:
        return _built()


@cache
def _built() -> Document:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    examples = share(schema)
    body = _encoded(schema)
    digest = sha256(body).hexdigest()
    return Document(
        Representation(body, f'"{digest}"'),
        Representation(gzip.compress(body, mtime=0), f'"{digest}-gzip"'),
        {name: _encoded(example) for name, example in examples.items()},
    )


def _encoded(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":")).encode()
