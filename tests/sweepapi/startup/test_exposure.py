"""Development switches work on loopback only, and no process serves every name."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from sweepapi.startup.exposure import problems, refuse_public_bind

SWITCHES = ["DEBUG", "INSECURE_HTTP", "WEBHOOK_ALLOW_PRIVATE"]


@pytest.fixture(autouse=True)
def as_in_production(settings: Settings) -> None:
    settings.DEBUG = settings.INSECURE_HTTP = settings.WEBHOOK_ALLOW_PRIVATE = False
    settings.ALLOWED_HOSTS = ["api.example"]


def named() -> list[str]:
    return [said.partition(" ")[0] for said in problems()]


def test_without_switches_any_names_are_served_but_not_all(settings: Settings) -> None:
    assert named() == []
    settings.ALLOWED_HOSTS = ["api.example", "*"]
    assert named() == ["ALLOWED_HOSTS"]


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize(
    "hosts", [[], ["api.example"], ["localhost", "api.example"], ["10.0.0.1"], [".localhost.example"]]
)
def test_a_switch_is_refused_where_other_hosts_reach_the_service(
    settings: Settings, switch: str, hosts: list[str]
) -> None:
    setattr(settings, switch, True)
    settings.ALLOWED_HOSTS = hosts
    assert named() == [switch]


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_may_be_on_for_loopback(settings: Settings, switch: str) -> None:
    setattr(settings, switch, True)
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"]
    assert named() == []
    refuse_public_bind([("127.0.0.1", 8000), ("::1", 8000), "/run/web.sock"])
    for address in (("0.0.0.0", 8000), ("::", 8000), ("192.0.2.1", 8000)):  # noqa: S104 - nothing listens there
        with pytest.raises(ImproperlyConfigured, match=switch):
            refuse_public_bind([("127.0.0.1", 8000), address])


def test_debugging_is_refused_with_all_names(settings: Settings) -> None:
    settings.DEBUG, settings.ALLOWED_HOSTS = True, ["*"]
    assert named() == ["ALLOWED_HOSTS", "DEBUG"]


def test_without_switches_any_address_is_listened_at() -> None:
    refuse_public_bind([("0.0.0.0", 8000)])  # noqa: S104 - as above
