"""An identity provider logs in people who have an account, by their verified address, and makes none."""

from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User

from tests import operator_browser
from tests.console import identity_provider
from tests.console.identity_provider import IdentityProvider
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db
ADA = {"sub": "17", "email": "ada@example.com", "email_verified": True, "preferred_username": "root"}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[IdentityProvider]:
    with identity_provider.running() as served:
        app = {"provider_id": "staff", "name": "Staff", "client_id": "console", "secret": "s"}
        apps = [app | {"settings": {"server_url": served.url}}]
        monkeypatch.setitem(operator_browser.DIFFERENT, "SOCIALACCOUNT_PROVIDERS", {"openid_connect": {"APPS": apps}})
        monkeypatch.setitem(operator_browser.DIFFERENT, "OIDC_ISSUER", served.url)
        yield served


def logged_in_as(provider: IdentityProvider, **person: object) -> str | None:
    """Go through a login; returns who is logged in then."""
    provider.person = ADA | person
    browser = ConsoleClient()
    there = browser.post(reverse("openid_connect_login", args=["staff"])).headers["Location"]
    assert there.startswith(f"{provider.url}/authorize?")
    (state,) = parse_qs(urlsplit(there).query)["state"]
    back = reverse("openid_connect_callback", args=["staff"])
    browser.get(back, {"state": state, "code": "one"})
    with browser.settings:
        pk = browser.session.get("_auth_user_id")
    return None if pk is None else User.objects.get(pk=pk).username


def test_a_person_with_an_account_is_logged_in_by_the_verified_address(provider: IdentityProvider) -> None:
    User.objects.create_user("ada", email="ada@example.com", is_staff=True)
    User.objects.create_superuser("root", email="root@example.com")
    assert logged_in_as(provider) == "ada"
    assert logged_in_as(provider) == "ada"  # again, now by what was connected
    assert User.objects.count() == 2


@pytest.mark.parametrize("person", [{"email_verified": False}, {"email": "eve@example.com"}, {"email": None}])
def test_no_one_else_is_logged_in_and_no_account_is_made(provider: IdentityProvider, person: dict[str, object]) -> None:
    User.objects.create_user("ada", email="ada@example.com", is_staff=True)
    assert logged_in_as(provider, **person) is None
    assert User.objects.count() == 1


def test_the_page_of_logins_offers_the_provider_and_lets_the_form_lead_there(provider: IdentityProvider) -> None:
    page = ConsoleClient().get(reverse("account_login"))
    assert "Log in with Staff" in page.content.decode()
    assert f"form-action 'self' {provider.url};" in page.headers["Content-Security-Policy"]


def test_the_page_of_logins_is_there_while_the_provider_is_away(provider: IdentityProvider) -> None:
    provider.person = {}
    app = {"provider_id": "staff", "name": "Staff", "client_id": "c", "secret": "s"}
    away = {"openid_connect": {"APPS": [app | {"settings": {"server_url": "http://127.0.0.1:1"}}]}}
    operator_browser.DIFFERENT["SOCIALACCOUNT_PROVIDERS"] = away  # the fixture puts the old one back
    assert ConsoleClient().get(reverse("account_login")).status_code == HTTPStatus.OK
