"""What each role reaches: every URL and action of the console by every role, compared with a table.

A new page fails here until ``reach.toml`` places it.
"""

import tomllib
from collections.abc import Iterator
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import RequestFactory
from django.urls import NoReverseMatch, URLPattern, URLResolver

from console.roles import ADMIN, BEYOND_VIEWING, FINANCE, SUPPORT, VIEWER
from sweepapi.admin.pages import AdminPages
from tests.operator_browser import URLS, ConsoleClient, reverse

TABLE = Path(__file__).with_name("reach.toml")
ROLES = (VIEWER, SUPPORT, FINANCE, ADMIN)
REFUSED = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
# What a path may take; a row with that key need not exist.
ARGUMENTS: tuple[tuple[str, ...], ...] = (
    (),
    ("1",),
    ("00000000-0000-7000-8000-000000000001", "2026-10"),
    ("1", "1"),
    ("loop-away",),
)

EVERYONES = ("account_", "mfa_", "socialaccount_", "openid_", "admin:login", "admin:logout")

pytestmark = pytest.mark.django_db


def member(role: str) -> User:
    person = User.objects.create_user(f"a {role}", is_staff=True)
    person.groups.set([Group.objects.get(name=role)])
    return person


def names(patterns: Any, namespace: str = "") -> Iterator[str]:
    for one in patterns:
        if isinstance(one, URLPattern):
            if one.name:
                yield namespace + one.name
        elif isinstance(one, URLResolver):
            yield from names(one.url_patterns, f"{one.namespace}:" if one.namespace else namespace)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and a path of each URL of the admin, and of the pages beside it."""
    for name in sorted(set(names(import_module(URLS).urlpatterns))):
        if name.startswith(EVERYONES):
            continue
        for arguments in ARGUMENTS:
            try:
                yield name, reverse(name, args=arguments)
            except NoReverseMatch:
                continue
            break
        else:
            yield name, "/partners/"  # the list of an app


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every page find a row, because who may not see one is not told whether it exists."""
    monkeypatch.setattr(AdminPages, "get_object", lambda self, _request, key, _field=None: self.model(pk=key))


@pytest.mark.usefixtures("rows")
def test_each_role_reaches_what_the_table_says() -> None:
    reached: dict[str, dict[str, list[str]]] = {"GET": {}, "POST": {}, "action": {}}
    for role in ROLES:
        browser = ConsoleClient(raise_request_exception=False)
        person = member(role)
        browser.force_login(person)
        for method, (name, path) in ((method, page) for page in pages() for method in ("GET", "POST")):
            if browser.generic(method, path).status_code not in REFUSED:
                reached[method].setdefault(name, []).append(role)
        request = RequestFactory().get("/")
        request.user = person
        for model, page in admin.site._registry.items():  # noqa: SLF001 Django has no other list
            for action in page.get_actions(request):
                reached["action"].setdefault(f"{model._meta.label_lower}.{action}", []).append(role)  # noqa: SLF001
    table = tomllib.loads(TABLE.read_text())
    assert reached == table, "\n".join(
        f"[{kind}] {name}: {found.get(name, [])}, not {table.get(kind, {}).get(name, [])}"
        for kind, found in reached.items()
        for name in sorted(found.keys() | table.get(kind, {}))
        if found.get(name) != table.get(kind, {}).get(name)
    )


def test_the_groups_have_exactly_the_permissions_of_the_table() -> None:
    for role, beyond in BEYOND_VIEWING.items():
        given = Permission.objects.filter(group__name=role).values_list("content_type__app_label", "codename")
        changing = {f"{app}.{name}" for app, name in given if not name.startswith("view_") or app == "auth"}
        assert changing == set(beyond)


def fields(**changed: Any) -> dict[str, Any]:
    return {"username": "ben", "role": Group.objects.get(name=VIEWER).pk, "is_active": "on"} | changed


def test_an_admin_gives_others_a_role_and_nothing_beyond_it() -> None:
    browser, ben = ConsoleClient(), member(VIEWER)
    browser.force_login(member(ADMIN))
    page = reverse("admin:auth_user_change", args=[ben.pk])
    beyond = {"is_superuser": "on", "groups": [1, 2, 3, 4], "user_permissions": [1]}
    answer = browser.post(page, fields(role=Group.objects.get(name=SUPPORT).pk, **beyond))
    assert answer.status_code == HTTPStatus.FOUND
    ben.refresh_from_db()
    assert [group.name for group in ben.groups.all()] == [SUPPORT]
    assert not ben.is_superuser
    assert not ben.user_permissions.exists()


def test_no_one_changes_the_own_role_or_a_superuser() -> None:
    browser, person = ConsoleClient(), member(ADMIN)
    browser.force_login(person)
    superuser = User.objects.create_superuser("root")
    for other in (person, superuser):
        for name in ("change", "password_change"):
            page = reverse(f"admin:auth_user_{name}", args=[other.pk])
            assert browser.post(page, fields()).status_code == HTTPStatus.FORBIDDEN


def test_a_new_person_is_staff_with_a_role() -> None:
    browser = ConsoleClient()
    browser.force_login(member(ADMIN))
    passwords = {"password1": "a long first password", "password2": "a long first password", "usable_password": "true"}
    browser.post(reverse("admin:auth_user_add"), fields(**passwords))
    person = User.objects.get(username="ben")
    assert (person.is_staff, [group.name for group in person.groups.all()]) == (True, [VIEWER])


def test_people_are_never_deleted(ops: ConsoleClient) -> None:
    person = member(VIEWER)
    assert (
        ops.post(reverse("admin:auth_user_delete", args=[person.pk]), {"post": "yes"}).status_code
        == HTTPStatus.FORBIDDEN
    )
