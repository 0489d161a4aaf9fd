"""What keeps people from using a page, as axe finds it."""

from pathlib import Path

from dev import browser
from dev.browser.page import Page

AXE = Path(browser.__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
RUN = """axe.run().then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")}: ${html.slice(0, 120)}`)))"""


def barriers(page: Page) -> list[str]:
    """Return the rules that the page breaks, each with an element."""
    page.evaluate(AXE.read_text(encoding="utf-8") + ";0")
    found: list[str] = page.evaluate(RUN)
    return found
