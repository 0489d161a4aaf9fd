"""The OpenAPI document as it is served: built once in a process, since it depends on the code alone, and compressed."""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from threading import Lock

from drf_spectacular.generators import SchemaGenerator
from rest_framework.utils.encoders import JSONEncoder

_building = Lock()


@dataclass(frozen=True, slots=True)
class Representation:
    """The document in one encoding, with the ETag that no other one has."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class Document:
    """The document as it is, and compressed."""

    plain: Representation
    zipped: Representation


def document() -> Document:
    """Return the document; of several threads that want it first, one builds it."""
    with _building:
        return _built()


@cache
def _built() -> Document:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    body = json.dumps(schema, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":")).encode()
    digest = sha256(body).hexdigest()
    return Document(
        Representation(body, f'"{digest}"'), Representation(gzip.compress(body, mtime=0), f'"{digest}-gzip"')
    )
