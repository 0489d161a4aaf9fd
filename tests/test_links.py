"""Links within the documentation lead somewhere."""

import re
import subprocess
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.urls import resolve

from sweepapi.api.openapi.site import site

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
SITE = "docs/site/src/content/docs/"  # whose links are those of the built pages
PAGE = re.compile(r"docs/decisions/[a-z-]+\.md")  # as comments name them


def tracked(*suffixes: str) -> list[str]:
    listed = subprocess.run(["/usr/bin/env", "git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if path.endswith(suffixes) and (ROOT / path).is_file()]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in tracked(".md") if not page.startswith(SITE)])
def test_every_relative_link_leads_to_a_file_and_a_heading(page: str) -> None:
    path = ROOT / page
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), f"{page} links to {target}"
        assert not anchor or anchor in anchors(found), f"{page} links to {target}#{anchor}"


@pytest.mark.parametrize("page", [page for page in tracked(".md") if page.startswith(SITE)])
def test_every_link_of_the_documentation_leads_to_a_page_or_a_view(page: str) -> None:
    slug = page.removeprefix(SITE).removesuffix(".md").removesuffix("index")
    for target, anchor in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        path = urljoin(f"/docs/{slug}/" if slug else "/docs/", target)
        name = path.removeprefix("/docs/").rstrip("/")
        source, generated = ROOT / SITE / f"{name or 'index'}.md", ROOT / "docs/site/src/pages" / name / "index.astro"
        is_page = source.is_file() or generated.is_file()
        assert is_page or resolve(path).func is not site, f"{page} links to {target}"
        assert not anchor or not source.is_file() or anchor in anchors(source), f"{page} links to {target}#{anchor}"


def test_every_decision_that_code_names_has_a_page() -> None:
    named = {page for path in tracked(".py", ".sol", ".toml", ".yaml", ".md") for page in PAGE.findall(text(path))}
    assert {page for page in named if not (ROOT / page).is_file()} == set()
    assert len(list((ROOT / "docs" / "decisions").iterdir())) <= 15


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
