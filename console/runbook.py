"""The runbook as pages of the console: the message of an alert leads to its page, with its rule and what to do.

The pages are the files of ``docs/runbook``, beside those about configuration and architecture, and need no script.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

INDEX = "index"
BESIDE = ("configuration", "architecture")


@dataclass(frozen=True)
class AlertRule:
    """What ``ops/prometheus/alerts.yml`` says of an alert."""

    name: str
    severity: str
    expression: str
    summary: str
    first: str


@admin.site.admin_view
def runbook(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """Show a page, by the name of its file."""
    if name not in _files():
        raise Http404
    title, body = _page(name)
    context = {"title": title, "body": body, "rule": _rules().get(name), "is_index": name == INDEX}
    return render(request, "console/runbook.html", context)


@cache
def _files() -> Mapping[str, Path]:
    """Return the file of each page by its name; a name says enough without its folder."""
    docs = settings.BASE_DIR / "docs"
    listed = [*sorted((docs / "runbook").rglob("*.md")), *(docs / f"{name}.md" for name in BESIDE)]
    return {path.stem: path for path in listed}


@cache
def _page(name: str) -> tuple[str, SafeString]:
    """Return the title of a page, and its body as HTML."""
    _, _, named = _files()[name].read_text(encoding="utf-8").partition("# ")
    title, _, text = named.partition("\n")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(content.content))
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")  # it scrolls on narrow screens
    for token in _inline(tokens):
        if token.type == "link_open":
            token.attrSet("href", _target(str(token.attrGet("href"))))
        elif token.type == "image":
            token.attrSet("src", f"/{settings.STATIC_URL}console/{PurePosixPath(str(token.attrGet('src'))).name}")
    return title, mark_safe(markdown.renderer.render(tokens, markdown.options, {}))  # noqa: S308 files of ours


def _inline(tokens: list[Token]) -> Iterator[Token]:
    return (child for token in tokens for child in token.children or ())


def _target(link: str) -> str:
    """Return where a link of a file leads in the console: to a page, within the page, or else to the index."""
    path, _, anchor = link.partition("#")
    if not path or path.startswith("https:"):
        return link
    name = PurePosixPath(path).stem
    if name not in _files():
        return reverse("runbook")
    return reverse("runbook_page", args=[name]) + (f"#{anchor}" if anchor else "")


@cache
def _rules() -> Mapping[str, AlertRule]:
    """Return the rule of each alert by the name of its page."""
    read: dict[str, Any] = yaml.safe_load((settings.BASE_DIR / "ops" / "prometheus" / "alerts.yml").read_text())
    rules = [rule for group in read["groups"] for rule in group["rules"] if "alert" in rule]
    return {
        page_of(rule["alert"]): AlertRule(
            name=rule["alert"],
            severity=rule["labels"]["severity"],
            expression=rule["expr"],
            summary=rule["annotations"]["summary"],
            first=rule["annotations"]["first"],
        )
        for rule in rules
    }


def page_of(alert: str) -> str:
    """Return the name of an alert's page."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", alert).lower()
