"""The pages that show the OpenAPI document and the errors load nothing from another host."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils.html import escape

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.field_codes import FIELD_CODES

PATHS = ("/docs/reference/", "/docs/errors")

pytestmark = pytest.mark.django_db


class Assets(HTMLParser):
    """Collects what a page loads, and whether it contains inline scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.inline_scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in {"script", "link", "img", "iframe"}:
            self.urls += [url for url in (named.get("src"), named.get("href")) if url]
            self.inline_scripts += tag == "script" and "src" not in named


@pytest.mark.parametrize(("path", "count"), [("/docs/reference/", 5), ("/docs/errors", 2)])
def test_the_page_loads_its_own_files_only_and_they_exist(anonymous: Client, path: str, count: int) -> None:
    assets = Assets()
    assets.feed(anonymous.get(path).content.decode())
    assert assets.inline_scripts == 0
    assert len(assets.urls) == count
    for url in assets.urls:
        assert url.startswith("/static/")
        assert finders.find(url.removeprefix("/static/")), url


def test_the_pages_styles_name_no_other_host() -> None:
    for name in (
        "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css",
        "sweepapi/reference.css",
        "sweepapi/errors.css",
    ):
        path = finders.find(name)
        assert isinstance(path, str)
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", file.read())


@pytest.mark.parametrize("path", PATHS)
def test_the_policy_restricts_the_page_to_this_host(anonymous: Client, path: str) -> None:
    policy = anonymous.get(path).headers["Content-Security-Policy"]
    directives = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert directives["connect-src"] == "'self'"
    assert "http" not in policy


def test_the_page_disables_the_external_validator() -> None:
    path = finders.find("sweepapi/reference.js")
    assert isinstance(path, str)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        assert "validatorUrl: null" in file.read()


@pytest.mark.parametrize("path", PATHS)
def test_nothing_can_be_posted_to_the_page(anonymous: Client, path: str) -> None:
    answer = Client(enforce_csrf_checks=True).post(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert anonymous.head(path).status_code == 200


def test_every_code_is_explained_at_its_anchor(anonymous: Client) -> None:
    page = anonymous.get("/docs/errors").content.decode()
    assert re.findall(r'<tr id="(\w+)">', page) == [row.code for row in ERROR_TABLE.values()]
    for error in ERROR_TABLE:
        assert f"<td>{escape(error.default_message())}</td>" in page
    assert [code for code in FIELD_CODES if f"<td><code>{code}</code></td>" not in page] == []
    assert "<code>true</code> are not integers" in page
