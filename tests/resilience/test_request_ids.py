"""The request id of a confirm is in the log of the worker that looks at the sweep, and in no other task's lines."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from celery import current_app
from django.db import connection
from pytest_django import Settings

from sweeps.wake import CHECK_TASK
from tests.partner_app import PartnerApp
from tests.resilience.engines import Engines, send

CHECK_DUE = "indexer.check_due"


def runs(log: Path, task: str) -> list[dict[str, Any]]:
    """Return the lines about the task's runs; the last line of the log may not be complete yet."""
    lines = [line for line in log.read_text().splitlines(keepends=True) if line.startswith("{") and line[-1] == "\n"]
    entries = [json.loads(line) for line in lines]
    return [entry for entry in entries if entry["event"] == "task" and entry["name"] == task]


@pytest.mark.django_db(transaction=True)
def test_the_worker_logs_the_request_id_of_the_confirm_that_woke_it(
    app: PartnerApp, engines: Engines, redis_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = app.build()
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    log = engines.start_worker({"REDIS_URL": redis_url, "DATABASE_URL": database.geturl()})
    monkeypatch.setattr(current_app.conf, "broker_write_url", redis_url)
    settings.FIRST_CHECK_SECONDS = 0

    app.api.defaults["HTTP_X_REQUEST_ID"] = "find-me"
    app.confirm(built, "0x" + "ab" * 32, status=202)
    engines.wait_for(lambda: bool(runs(log, CHECK_TASK)), "the check that the confirm asked for")
    assert {(run["request_id"], run["outcome"]) for run in runs(log, CHECK_TASK)} == {("find-me", "succeeded")}

    send(redis_url, CHECK_DUE)
    engines.wait_for(lambda: bool(runs(log, CHECK_DUE)), "the task that no request caused")
    assert all("request_id" not in run for run in runs(log, CHECK_DUE))
