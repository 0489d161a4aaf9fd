"""The runbook is served in the console: each file a page, each alert with its rule, each link to a page that exists."""

import re
from http import HTTPStatus

import pytest
from django.conf import settings

from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db
NAMES = sorted(path.stem for path in (settings.BASE_DIR / "docs" / "runbook").glob("*/*.md"))


def page(ops: ConsoleClient, name: str) -> str:
    answer = ops.get(reverse("runbook_page", args=[name]))
    assert answer.status_code == HTTPStatus.OK
    assert "unsafe-eval" not in answer.headers["Content-Security-Policy"]
    return str(answer.content.decode())


def test_every_page_is_served_and_its_links_lead_to_pages_and_headings(ops: ConsoleClient) -> None:
    shown = {name: page(ops, name) for name in (*NAMES, "index", "configuration", "architecture")}
    for name, text in shown.items():
        for target, anchor in re.findall(r'href="/runbook/([a-z0-9-]+)/(?:#([^"]+))?"', text):
            assert not anchor or f'id="{anchor}"' in shown[target], f"{name} links to {target}#{anchor}"
        assert ".md" not in "".join(re.findall(r'href="[^"]*"', text)), name


def test_the_page_of_an_alert_shows_its_rule(ops: ConsoleClient) -> None:
    text = page(ops, "loop-away")
    assert "LoopAway, page" in text
    assert "docker compose restart work" in text


def test_a_name_that_is_not_a_page_is_not_found(ops: ConsoleClient) -> None:
    assert ops.get("/runbook/no-such-page/").status_code == HTTPStatus.NOT_FOUND
    assert ops.get("/runbook/../../etc/passwd/").status_code == HTTPStatus.NOT_FOUND


def test_a_stranger_is_sent_to_the_login() -> None:
    answer = ConsoleClient().get(reverse("runbook"))
    assert (answer.status_code, "login" in answer.headers["Location"]) == (HTTPStatus.FOUND, True)
