"""The page that shows the OpenAPI document loads nothing from another host."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

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


def test_the_page_loads_its_own_files_only_and_they_exist(anonymous: Client) -> None:
    assets = Assets()
    assets.feed(anonymous.get("/docs/").content.decode())
    assert assets.inline_scripts == 0
    assert len(assets.urls) == 5
    for url in assets.urls:
        assert url.startswith("/static/")
        assert finders.find(url.removeprefix("/static/")), url


def test_the_pages_styles_name_no_other_host() -> None:
    for name in ("drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css", "sweepapi/reference.css"):
        path = finders.find(name)
        assert isinstance(path, str)
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", file.read())


def test_the_policy_restricts_the_page_to_this_host(anonymous: Client) -> None:
    policy = anonymous.get("/docs/").headers["Content-Security-Policy"]
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


def test_nothing_can_be_posted_to_the_reference_page(anonymous: Client) -> None:
    answer = Client(enforce_csrf_checks=True).post("/docs/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert anonymous.head("/docs/").status_code == 200
