"""The page about the errors needs no script, and loads nothing from another host."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils.html import escape

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.field_codes import FIELD_CODES

PATH = "/docs/errors"

pytestmark = pytest.mark.django_db


class Assets(HTMLParser):
    """Collects what a page loads, and how many scripts it has."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in {"script", "link", "img", "iframe"}:
            self.urls += [url for url in (named.get("src"), named.get("href")) if url]
            self.scripts += tag == "script"


def test_the_page_loads_its_own_files_only_and_they_exist(anonymous: Client) -> None:
    assets = Assets()
    assets.feed(anonymous.get(PATH).content.decode())
    assert assets.scripts == 0
    assert len(assets.urls) == 2
    for url in assets.urls:
        assert url.startswith("/static/")
        assert finders.find(url.removeprefix("/static/")), url


def test_the_policy_allows_no_script_and_nothing_of_another_host(anonymous: Client) -> None:
    policy = anonymous.get(PATH).headers["Content-Security-Policy"]
    directives = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert "script-src" not in directives
    assert "http" not in policy


def test_nothing_can_be_posted_to_the_page(anonymous: Client) -> None:
    answer = Client(enforce_csrf_checks=True).post(PATH)
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert anonymous.head(PATH).status_code == 200


def test_every_code_is_explained_at_its_anchor(anonymous: Client) -> None:
    page = anonymous.get("/docs/errors").content.decode()
    assert re.findall(r'<tr id="(\w+)">', page) == [row.code for row in ERROR_TABLE.values()]
    for error in ERROR_TABLE:
        assert f"<td>{escape(error.default_message())}" in page
    assert [code for code in FIELD_CODES if f"<td><code>{code}</code></td>" not in page] == []
    assert "<code>true</code> are not integers" in page
