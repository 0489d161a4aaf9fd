"""The OpenAPI document is built once, compressed for those who take that, and not sent to those who have it."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from sweepapi.api.openapi import document as documents

URL = "/v2/openapi.json"


def test_eight_that_want_it_first_have_it_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def get_schema(_self: SchemaGenerator, **_choices: object) -> dict[str, str]:
        built.append(1)
        return {"openapi": "3.1.0"}

    monkeypatch.setattr(SchemaGenerator, "get_schema", get_schema)
    documents._built.cache_clear()  # noqa: SLF001 as in a new process
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: documents.document(), range(8)))
    documents._built.cache_clear()  # noqa: SLF001 of this test
    assert len(built) == 1
    assert {one.plain.body for one in found} == {b'{"openapi":"3.1.0"}'}


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip", "deflate, gzip;q=0.5", "*", "GZIP"])
def test_who_takes_gzip_gets_the_same_document_in_a_fifth_of_the_bytes(anonymous: Client, accepted: str) -> None:
    plain, zipped = anonymous.get(URL), anonymous.get(URL, headers={"Accept-Encoding": accepted})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.content) == plain.content
    assert len(zipped.content) * 5 < len(plain.content)
    assert plain.headers["ETag"] != zipped.headers["ETag"]
    assert plain.headers["Vary"] == zipped.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, *"])
def test_who_does_not_take_gzip_gets_it_plain(anonymous: Client, accepted: str) -> None:
    response = anonymous.get(URL, headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in response.headers
    assert json.loads(response.content)["openapi"].startswith("3.1.")


def test_who_has_it_gets_304_and_no_body(anonymous: Client) -> None:
    for encoding in ("identity", "gzip"):
        etag = anonymous.get(URL, headers={"Accept-Encoding": encoding}).headers["ETag"]
        for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
            headers = {"Accept-Encoding": encoding, "If-None-Match": known}
            response = anonymous.get(URL, headers=headers)
            assert (response.status_code, response.content) == (304, b"")
            assert response.headers["ETag"] == etag
    assert anonymous.get(URL, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_head_request_is_answered_without_the_document(anonymous: Client) -> None:
    response = anonymous.head(URL)
    assert (response.status_code, response.content) == (200, b"")
