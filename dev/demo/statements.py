"""Reads a partner's statement of this month, as the operator downloads it from the admin."""

import csv
from collections.abc import Mapping
from datetime import UTC, datetime

import requests

TIMEOUT_SECONDS = 30


def statement_lines(admin: Mapping[str, str], partner_id: str) -> list[dict[str, str]]:
    """Return the lines of the month's statement; `admin` has the URL and the credentials of the admin."""
    with requests.Session() as session:
        login = f"{admin['url']}login/"
        session.get(login, timeout=TIMEOUT_SECONDS).raise_for_status()
        form = {"username": admin["username"], "password": admin["password"]}
        form["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
        month = f"{datetime.now(UTC):%Y-%m}"
        form["next"] = f"{admin['url']}ledger/partnerbooks/{partner_id}/statement/{month}.csv"
        response = session.post(login, data=form, timeout=TIMEOUT_SECONDS)  # redirects to the statement
        response.raise_for_status()
    return [record for record in csv.DictReader(response.text.splitlines()) if record["record"] == "line"]
