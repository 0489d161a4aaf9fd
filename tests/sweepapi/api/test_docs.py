"""The OpenAPI document is valid and complete, and its page asks no other host for anything."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(anonymous: Client) -> dict[str, Any]:
    response = anonymous.get("/v2/openapi.json")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    found: dict[str, Any] = response.json()
    return found


def test_the_document_is_valid_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")


def test_every_operation_needs_the_key_or_says_that_it_does_not(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["apiKey"]["name"] == "x-api-key"
    assert document["paths"]["/v2/partner"]["get"]["security"] == [{"apiKey": []}]


def test_every_success_is_in_the_envelope_and_every_failure_in_the_other(document: dict[str, Any]) -> None:
    for path in document["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                schema = response["content"]["application/json"]["schema"]
                if status.startswith("2"):
                    assert schema["required"] == ["ok", "data"]
                else:
                    assert schema == {"$ref": "#/components/schemas/Failure"}


def test_every_operation_documents_its_errors_by_code(document: dict[str, Any]) -> None:
    responses = document["paths"]["/v2/ledger/entries"]["get"]["responses"]
    assert set(responses) == {"200", "400", "401", "403", "405", "406", "500", "503"}
    assert "`unsupported_chain`" in responses["400"]["description"]
    assert "`missing_api_key`" in responses["401"]["description"]


class Assets(HTMLParser):
    """Collects what a page loads, and whether it holds script of its own."""

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


def test_the_policy_keeps_the_page_to_this_host(anonymous: Client) -> None:
    policy = anonymous.get("/docs/").headers["Content-Security-Policy"]
    directives = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert directives["connect-src"] == "'self'"
    assert "http" not in policy


def test_the_page_switches_the_outside_validator_off() -> None:
    path = finders.find("sweepapi/reference.js")
    assert isinstance(path, str)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        assert "validatorUrl: null" in file.read()


def test_nothing_can_be_posted_to_the_reference_page(anonymous: Client) -> None:
    answer = Client(enforce_csrf_checks=True).post("/docs/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert anonymous.head("/docs/").status_code == 200
