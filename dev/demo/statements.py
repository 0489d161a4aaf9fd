"""Reads a partner's statement of this month, as the operator downloads it from the console."""

import csv
from collections.abc import Mapping
from datetime import UTC, datetime

import requests

from dev.one_time_code import code

TIMEOUT_SECONDS = 30


def statement_lines(console: Mapping[str, str], partner_id: str) -> list[dict[str, str]]:
    """Return the lines of the month's statement; `console` has the URL and an operator's credentials."""
    with requests.Session() as session:
        session.get(f"{console['url']}/login/", timeout=TIMEOUT_SECONDS).raise_for_status()
        statement = f"/ledger/partnerbooks/{partner_id}/statement/{datetime.now(UTC):%Y-%m}.csv"
        credentials = {"login": console["username"], "password": console["password"], "next": statement}
        _post(session, f"{console['url']}/login/", credentials)
        response = _post(session, f"{console['url']}/factors/authenticate/", {"code": code(console["totpSecret"])})
    return [record for record in csv.DictReader(response.text.splitlines()) if record["record"] == "line"]


def _post(session: requests.Session, url: str, fields: dict[str, str]) -> requests.Response:
    """Send a form, and return the page to which the answer leads."""
    token = {"csrfmiddlewaretoken": session.cookies["console_csrf"]}
    response = session.post(url, data=fields | token, timeout=TIMEOUT_SECONDS)
    response.raise_for_status()
    return response
