"""Logins by password are limited before a hash, by account and by address; a passkey is never in their way."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from io import StringIO
from typing import Any
from unittest import mock

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from console.logins import adapters, attempts
from console.models import FailedLogins
from tests.operator_browser import ConsoleClient, reverse

PASSWORD = "a long password of an operator"

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ada", password=PASSWORD, is_staff=True)


def log_in(browser: ConsoleClient, password: str, *, account: str = "ada", address: str = "192.0.2.1") -> Any:
    fields = {"login": account, "password": password}
    return browser.post(reverse("account_login"), fields, REMOTE_ADDR=address)


@contextmanager
def hashes() -> Iterator[list[None]]:
    """Count the passwords that are hashed."""
    counted: list[None] = []
    original = PBKDF2PasswordHasher.encode

    def encode(hasher: PBKDF2PasswordHasher, *arguments: Any, **options: Any) -> str:
        counted.append(None)
        return str(original(hasher, *arguments, **options))

    with mock.patch.object(PBKDF2PasswordHasher, "encode", encode):
        yield counted


def test_the_thirty_first_guess_of_an_hour_is_refused_without_a_hash_from_any_address(person: User) -> None:
    browser, now = ConsoleClient(), timezone.now().replace(second=0, microsecond=0)
    for number in range(attempts.OF_AN_ACCOUNT - 1):
        FailedLogins.objects.create(account="ada", address=f"192.0.2.{number}", minute=now, count=1)
    assert "Too many" not in log_in(browser, "wrong", address="203.0.113.1").content.decode()
    with hashes() as hashed:
        refused = log_in(browser, PASSWORD, address="198.51.100.1")
    assert "Too many failed login attempts" in refused.content.decode()
    assert hashed == []
    assert person.last_login is None


@pytest.mark.usefixtures("person")
def test_one_password_is_hashed_at_a_time_and_who_would_have_to_wait_is_refused_and_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapters, "HASHING_SECONDS", 0.01)
    with adapters._hashing, hashes() as hashed:  # noqa: SLF001 another thread's
        assert "Too many" in log_in(ConsoleClient(), PASSWORD).content.decode()
    assert (hashed, FailedLogins.objects.count()) == ([], 0)
    assert log_in(ConsoleClient(), PASSWORD).status_code == HTTPStatus.FOUND


def test_an_address_is_refused_after_many_accounts() -> None:
    browser = ConsoleClient()
    now = timezone.now().replace(second=0, microsecond=0)
    FailedLogins.objects.create(account="many", address="192.0.2.1", minute=now, count=attempts.OF_AN_ADDRESS)
    with hashes() as hashed:
        assert "Too many" in log_in(browser, "wrong", account="other").content.decode()
    assert hashed == []
    assert "Too many" not in log_in(browser, "wrong", account="other", address="192.0.2.2").content.decode()


@pytest.mark.usefixtures("person")
def test_an_hour_later_one_may_try_again() -> None:
    earlier = timezone.now().replace(second=0, microsecond=0) - attempts.PERIOD
    FailedLogins.objects.create(account="ada", address="192.0.2.1", minute=earlier, count=attempts.OF_AN_ACCOUNT)
    assert log_in(ConsoleClient(), PASSWORD).status_code == HTTPStatus.FOUND


@pytest.mark.usefixtures("person")
def test_failures_are_recorded_one_row_a_minute_and_a_right_password_is_not_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = timezone.now().replace(second=1, microsecond=0)
    monkeypatch.setattr(timezone, "now", lambda: at)
    browser = ConsoleClient()
    for _ in range(3):
        log_in(browser, "wrong", account="ADA")
    log_in(browser, "wrong", account="nobody")
    log_in(browser, PASSWORD)
    rows = FailedLogins.objects.order_by("account").values_list("account", "address", "count")
    assert list(rows) == [("ada", "192.0.2.1", 3), ("nobody", "192.0.2.1", 1)]


def test_old_failures_are_forgotten() -> None:
    old = timezone.now() - attempts.KEPT - timedelta(minutes=2)
    FailedLogins.objects.create(account="old", address=None, minute=old, count=1)
    log_in(ConsoleClient(), "wrong", account="new")
    assert list(FailedLogins.objects.values_list("account", flat=True)) == ["new"]


@pytest.mark.django_db(transaction=True)
def test_guesses_at_once_are_limited_as_those_one_by_one() -> None:
    def guess(_number: int) -> bool:
        try:
            return attempts.LoginAttempt.of("ada", None).admitted()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        admitted = list(threads.map(guess, range(attempts.OF_AN_ACCOUNT + 10)))
    assert sum(admitted) == attempts.OF_AN_ACCOUNT


@pytest.mark.usefixtures("person")
def test_a_flood_on_an_account_leaves_the_passkeys_way_open() -> None:
    now = timezone.now().replace(second=0, microsecond=0)
    FailedLogins.objects.create(account="ada", address="192.0.2.1", minute=now, count=10_000)
    options = ConsoleClient().get(
        reverse("mfa_login_webauthn"), headers={"x-requested-with": "XMLHttpRequest"}, REMOTE_ADDR="192.0.2.1"
    )
    assert options.status_code == HTTPStatus.OK
    assert "challenge" in options.json()["request_options"]["publicKey"]


@pytest.mark.usefixtures("person")
def test_a_password_alone_reaches_only_the_enrolment_of_a_factor() -> None:
    browser = ConsoleClient()
    log_in(browser, PASSWORD)
    for name in ("admin:index", "admin:sweeps_sweep_changelist", "providers", "account_change_password"):
        assert browser.get(reverse(name)).headers["Location"] == reverse("mfa_index"), name
    for name in ("mfa_index", "mfa_activate_totp", "mfa_add_webauthn"):
        assert browser.get(reverse(name)).status_code == HTTPStatus.OK, name


def test_a_password_with_a_code_of_the_app_logs_in_and_the_apps_secret_is_stored_encrypted(person: User) -> None:
    browser, secret = ConsoleClient(), generate_totp_secret()
    with browser.settings:
        stored = TOTP.activate(person, secret).instance
    assert secret not in str(stored.data)
    assert log_in(browser, PASSWORD).headers["Location"] == reverse("mfa_authenticate")
    assert browser.get(reverse("admin:index")).status_code == HTTPStatus.FOUND
    code = format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))
    assert browser.post(reverse("mfa_authenticate"), {"code": code}).headers["Location"] == reverse("admin:index")
    assert browser.get(reverse("admin:index")).status_code == HTTPStatus.OK
    assert Authenticator.objects.get().last_used_at is not None


def test_no_one_signs_up() -> None:
    for name in ("account_signup", "socialaccount_signup"):
        assert ConsoleClient().get(reverse(name)).status_code == HTTPStatus.NOT_FOUND


def test_the_api_has_none_of_these_pages(anonymous: Any) -> None:
    for name in ("account_login", "admin:index", "admin:sweeps_sweep_changelist", "mfa_index", "providers"):
        answer = anonymous.get(reverse(name))
        assert (answer.status_code, answer.json()["error"]["code"]) == (HTTPStatus.NOT_FOUND, "not_found")
    assert anonymous.get("/admin/").status_code == HTTPStatus.NOT_FOUND


def test_the_console_has_nothing_of_the_api(ops: ConsoleClient, api_key: str) -> None:
    for path in ("/v2/status", "/v2/partner", "/docs/errors", "/v2/openapi.json"):
        assert ops.get(path, headers={"x-api-key": api_key}).status_code == HTTPStatus.NOT_FOUND, path


def test_factors_that_are_forgotten_are_enrolled_again_and_sessions_end(ops: ConsoleClient) -> None:
    person = User.objects.get()
    with ops.settings:
        call_command("forget_factors", person.username, stdout=StringIO())
        with pytest.raises(CommandError, match="no account"):
            call_command("forget_factors", "nobody")
    assert not Authenticator.objects.exists()
    assert ops.get(reverse("admin:index")).headers["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize("page", ["account_change_password", "account_reauthenticate"])
def test_a_stolen_session_guesses_the_password_no_faster(person: User, page: str) -> None:
    browser, now = ConsoleClient(), timezone.now().replace(second=0, microsecond=0)
    browser.force_login(person)
    new = dict.fromkeys(("password1", "password2"), "another long password")
    fields = {"password": "wrong", "oldpassword": "wrong", **new}  # each page reads its own
    FailedLogins.objects.create(account="ada", address=None, minute=now, count=attempts.OF_AN_ACCOUNT - 1)
    assert "Too many" not in browser.post(reverse(page), fields).content.decode()
    with hashes() as hashed:
        assert "Too many" in browser.post(reverse(page), fields).content.decode()
    assert hashed == []


def test_the_looks_own_page_of_passwords_leads_to_the_limited_one(ops: ConsoleClient) -> None:
    assert ops.get(reverse("admin:password_change")).headers["Location"] == reverse("account_change_password")
    assert ops.post(reverse("admin:password_change")).headers["Location"] == reverse("account_change_password")
