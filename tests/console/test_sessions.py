"""A session ends a day after its login, and half an hour after it was last used."""

import time
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User

from console.logins import sessions
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db
DAY = 86_400


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    at = time.time() + seconds
    monkeypatch.setattr("time.time", lambda: at)


def is_in(browser: ConsoleClient) -> bool:
    return browser.get(reverse("admin:index")).status_code == HTTPStatus.OK


def test_a_session_that_is_idle_for_half_an_hour_ends(ops: ConsoleClient, monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch, sessions.IDLE_SECONDS + 1)
    assert not is_in(ops)
    assert not is_in(ops)


def test_a_session_that_is_used_goes_on_for_a_day_and_no_longer(
    ops: ConsoleClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = 0
    while (used := used + sessions.IDLE_SECONDS - 10) < DAY:
        with monkeypatch.context() as clock:
            later(clock, used)
            assert is_in(ops)
    with monkeypatch.context() as clock:
        later(clock, DAY + 1)
        assert not is_in(ops)


def test_a_person_who_was_made_inactive_is_out_at_once(ops: ConsoleClient) -> None:
    User.objects.update(is_active=False)
    assert not is_in(ops)
