"""The documentation works in a browser: at a desk and on a phone, in light and dark, with scripts and without."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest
from django.test import Client

from dev.browser.browser import Browser
from dev.browser.page import Page
from lab.bench.web.pages import BUILD_PAGE, DESK_PIXELS, HEIGHT, MOST_BYTES, MOST_PIXELS, paths_of, visit
from sweepapi.api.openapi import site
from sweepapi.api.openapi.document import document
from tests.dev.browser.barriers import barriers

PHONE_PIXELS = 420
ERRORS = "/docs/errors"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNFOLD = "document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
TEXT = "document.querySelector('main').innerText"


@dataclass
class Links(HTMLParser):
    """What a page links, and where a fragment can lead to in it."""

    hrefs: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids.add(found.get("id") or "")
        if tag == "a":
            self.hrefs.add(found.get("href") or "")


@pytest.fixture
def pages(site_pages: Path) -> list[str]:
    """The paths of all pages."""
    return paths_of(site_pages)


@pytest.fixture
def kinds(site_pages: Path, pages: list[str]) -> list[str]:
    """A page of each kind; of the operations that whose page is the largest."""
    operations = site_pages.glob("reference/*/index.html")
    largest = max(operations, key=lambda file: file.stat().st_size).parent.name
    guide, quickstart = (next(page for page in pages if kind in page) for kind in ("/guides/", "/quickstarts/"))
    return ["/docs/", quickstart, guide, "/docs/reference/", f"/docs/reference/{largest}/", ERRORS]


def faults(page: Page, url: str) -> list[str]:
    """Open a page with all that is folded in it, at a desk and then on a phone, and return what is wrong."""
    page.view(width=DESK_PIXELS, dark=False)
    visit(page, url)
    page.evaluate(UNFOLD)
    at_desk = page.evaluate(OVERFLOW)
    page.view(width=PHONE_PIXELS, dark=True)
    on_phone = page.evaluate(OVERFLOW)
    too_wide = [
        f"{pixels} pixels too wide {where}"
        for where, pixels in (("at a desk", at_desk), ("on a phone", on_phone))
        if pixels
    ]
    return page.faults() + too_wide


def test_every_page_opens_without_a_fault_fits_desk_and_phone_and_is_at_most_100_kb(
    browser: Browser, documentation: str, pages: list[str]
) -> None:
    found = {}
    with browser.page() as page:
        page.disable_cache()
        for path in [*pages, ERRORS]:
            found[path] = faults(page, documentation + path)
            if page.bytes_received > MOST_BYTES:
                found[path].append(f"{page.bytes_received} bytes")
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_no_kind_of_page_has_barriers_in_light_or_dark(browser: Browser, documentation: str, kinds: list[str]) -> None:
    found: dict[str, list[str]] = {}
    with browser.page() as page:
        for path, (width, dark) in product(kinds, ((DESK_PIXELS, False), (PHONE_PIXELS, True))):
            page.view(width=width, dark=dark)
            visit(page, documentation + path)
            page.evaluate(UNFOLD)
            found[path] = found.get(path, []) + barriers(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_the_page_that_stands_in_for_an_unbuilt_site_has_neither_faults_nor_barriers(
    browser: Browser, documentation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "FOLDER", tmp_path)
    with browser.page() as page:
        assert faults(page, f"{documentation}/docs/") == []
        assert barriers(page) == []


def test_a_page_shows_no_less_text_without_scripts(browser: Browser, documentation: str, kinds: list[str]) -> None:
    with browser.page() as page, browser.page() as bare:
        bare.disable_scripts()
        for path in kinds:
            page.goto(documentation + path)
            bare.goto(documentation + path)
            shown = set(page.evaluate(TEXT).splitlines())
            assert shown > {""}
            assert shown <= set(bare.evaluate(TEXT).splitlines()), path
        assert bare.faults() == []


def test_the_search_finds_a_word(browser: Browser, documentation: str) -> None:
    with browser.page() as page:
        visit(page, f"{documentation}/docs/")
        page.click("button[data-open-modal]")
        page.type("sweep")
        page.wait("document.querySelector('dialog .pagefind-ui__result a')")
        assert page.faults() == []


def test_the_page_of_the_build_is_at_most_3000_pixels_tall(browser: Browser, documentation: str) -> None:
    with browser.page(width=DESK_PIXELS) as page:
        page.goto(documentation + BUILD_PAGE)
        assert page.evaluate(HEIGHT) <= MOST_PIXELS


@pytest.mark.usefixtures("documentation")
def test_every_link_and_fragment_leads_to_something(anonymous: Client, pages: list[str]) -> None:
    read: dict[str, Links] = {}

    def links(path: str) -> Links | None:
        if path not in read:
            response = anonymous.get(path)
            if response.status_code != 200:
                return None
            read[path] = Links()
            read[path].feed(response.content.decode())
        return read[path]

    broken = []
    for page in [*pages, ERRORS]:
        of_page = links(page)
        assert of_page is not None
        for href in of_page.hrefs:
            target, fragment = urldefrag(urljoin(page, href))
            if target.startswith("/"):
                found = links(target)
                if found is None or (fragment and fragment not in found.ids):
                    broken.append(f"{page} links {href}")
    assert broken == []


@pytest.mark.usefixtures("documentation")
def test_the_reference_has_a_page_for_each_operation_which_the_list_links(anonymous: Client) -> None:
    listed = set(
        re.findall(r'href="(/docs/reference/[a-z0-9-]+/)"', anonymous.get("/docs/reference/").content.decode())
    )
    paths: dict[str, dict[str, object]] = json.loads(document().plain.body)["paths"]
    assert len(listed) == sum(len(operations) for operations in paths.values())
    for page in listed:
        assert "Failures" in anonymous.get(page).content.decode(), page


@pytest.mark.usefixtures("documentation")
def test_llms_txt_lists_every_page_as_markdown(anonymous: Client, pages: list[str]) -> None:
    listed = set(re.findall(r"/docs/[\w/-]+\.md", body_of(anonymous, "/docs/llms.txt")))
    names = {page.rstrip("/") + ".md" for page in [*pages, ERRORS]} - {"/docs/reference.md", "/docs.md"}
    assert listed == names | {"/docs/index.md"}
    for name in listed:
        assert body_of(anonymous, name).startswith(("# ", "<!-- Generated")), name
    confirm = body_of(anonymous, "/docs/reference/confirm-sweep.md")
    for part in ('"txHash": ', "- `callsStatus` (object, optional)", "- 422: event_mismatch"):
        assert part in confirm


def body_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return b"".join(response).decode()
