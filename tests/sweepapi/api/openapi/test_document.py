"""The OpenAPI document is built once, compressed for those who take that, and not sent to those who have it."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from sweepapi.api.openapi import document as documents
from sweepapi.api.openapi.sharing import share
from tests.openapi import LINKED_EXAMPLE

URL = "/v2/openapi.json"


def test_eight_that_want_it_first_have_it_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def get_schema(_self: SchemaGenerator, **_choices: object) -> dict[str, object]:
        built.append(1)
        return {"openapi": "3.1.0", "paths": {}, "components": {}}

    monkeypatch.setattr(SchemaGenerator, "get_schema", get_schema)
    documents._built.cache_clear()  # noqa: SLF001 as in a new process
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: documents.document(), range(8)))
    documents._built.cache_clear()  # noqa: SLF001 of this test
    assert len(built) == 1
    assert {json.loads(one.plain.body)["openapi"] for one in found} == {"3.1.0"}


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


def test_it_is_small_enough_to_read_at_once(anonymous: Client) -> None:
    assert len(anonymous.get(URL).content) <= 400_000
    assert len(anonymous.get(URL, headers={"Accept-Encoding": "gzip"}).content) <= 60_000


def test_it_links_long_examples_which_are_files(anonymous: Client) -> None:
    built = anonymous.get(URL).json()["paths"]["/v2/sweep/build"]["post"]["responses"]["201"]["description"]
    urls = [url for _, url in LINKED_EXAMPLE.findall(built)]
    assert "/docs/examples/BuiltSweep.ASweepOfOneToken.json" in urls
    for url in urls:
        response = anonymous.get(url)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
        assert response.json()["data"]["chain"] == "base"
        assert anonymous.post(url).status_code == 405
    assert anonymous.get("/docs/examples/BuiltSweep.Nothing.json").status_code == 404


def test_two_examples_of_one_name_stop_the_document() -> None:
    with pytest.raises(ValueError, match="two examples are called NotFound"):
        share({"components": {}, "paths": {"/a": {"get": failing_with(1)}, "/b": {"get": failing_with(2)}}})


def failing_with(value: int) -> dict[str, Any]:
    content = {"application/json": {"examples": {"NotFound": {"value": value}}}}
    return {"security": [], "responses": {"404": {"content": content}}}


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
