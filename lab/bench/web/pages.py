"""The pages of the built documentation, and what each may weigh and measure."""

from pathlib import Path

from dev.browser.page import Page

DESK_PIXELS = 1280
BUILD_PAGE = "/docs/reference/build-sweep/"
MOST_BYTES = 100_000  # as sent, with style and scripts
MOST_PIXELS = 3_000  # of the build's page from top to bottom, at a desk
# A page of the site fetches its search last; the service's own pages have none.
COMPLETE = "!document.querySelector('site-search') || document.querySelector('site-search input')"
HEIGHT = "document.documentElement.scrollHeight"


def paths_of(folder: Path) -> list[str]:
    """Return the path of each page that was built into the folder."""
    return sorted(f"/docs/{file.relative_to(folder)}".removesuffix("index.html") for file in folder.rglob("index.html"))


def visit(page: Page, url: str) -> None:
    """Open a page of the documentation and wait until it is complete."""
    page.goto(url)
    page.wait(COMPLETE)
