"""The browser does what a user does, and no fault of a page stays unseen."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from pytest_django.live_server_helper import LiveServer

from dev.browser import chromium
from dev.browser.browser import Browser, running
from dev.browser.page import Page, ScriptError

FAULTS = {
    "policy": (
        "<meta http-equiv=content-security-policy content=\"script-src 'none'\"><script>1</script>",
        "security: ",
    ),
    "style": (
        "<meta http-equiv=content-security-policy content=\"style-src 'none'\"><p style='color: red'>",
        "security: ",
    ),
    "exception": ("<script>throw new Error('broken')</script>", "exception: Error: broken"),
    "promise": ("<script>Promise.reject(new Error('broken'))</script>", "exception: Error: broken"),
    "console": ("<script>console.error('broken', 1)</script>", "console: broken 1"),
    "refused": ("<img src=http://127.0.0.1:9>", "request: http://127.0.0.1:9/: "),
}
FORM = """<form onsubmit="document.title = word.value; return false"><input id=word><button>Send</button></form>"""


def url_of(content: str) -> str:
    return f"data:text/html,<!doctype html>{quote(content)}"


@contextmanager
def showing(browser: Browser, content: str) -> Iterator[Page]:
    with browser.page() as page:
        page.goto(url_of(content))
        yield page


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_page_is_found(browser: Browser, name: str) -> None:
    content, fault = FAULTS[name]
    with showing(browser, content) as page:
        found = page.faults()
        assert any(one.startswith(fault) for one in found), found
        assert page.faults() == []


def test_a_response_that_says_not_found_is_a_fault(browser: Browser, live_server: LiveServer) -> None:
    with browser.page() as page:
        page.goto(f"{live_server.url}/docs/nothing")
        assert any("404" in one for one in page.faults())


def test_what_another_origin_does_not_allow_is_a_fault(browser: Browser, live_server: LiveServer) -> None:
    with showing(browser, f"<script>fetch('{live_server.url}/docs/errors')</script>") as page:
        page.wait("performance.getEntriesByType('resource').length")
        assert any("CORS policy" in one for one in page.faults())


def test_a_user_types_and_sends_by_key_or_button(browser: Browser) -> None:
    with showing(browser, FORM) as page:
        page.click("#word")
        page.type("one")
        page.press("Enter")
        page.wait("document.title === 'one'")
        page.type(" two")
        page.click("button")
        page.wait("document.title === 'one two'")


def test_a_given_script_runs_before_those_of_the_page(browser: Browser) -> None:
    with browser.page() as page:
        page.before_load("window.wallet = 'given'")
        page.goto(url_of("<script>document.title = window.wallet</script>"))
        assert page.evaluate("document.title") == "given"


def test_an_error_of_an_evaluated_script_is_raised(browser: Browser) -> None:
    with showing(browser, "") as page, pytest.raises(ScriptError, match="broken"):
        page.evaluate("Promise.reject(new Error('broken'))")


def test_each_page_has_storage_of_its_own(browser: Browser, live_server: LiveServer) -> None:
    with browser.page() as one, browser.page() as other:
        for page in (one, other):
            page.goto(f"{live_server.url}/docs/errors")
        one.evaluate("localStorage.setItem('kept', 'yes')")
        assert other.evaluate("localStorage.getItem('kept')") is None


def test_a_machine_without_a_browser_runs_the_npm_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "NAMES", ())
    with running() as npm_build, showing(npm_build, "<p>ÄΩ") as page:
        assert page.evaluate("document.querySelector('p').offsetWidth > 0")
