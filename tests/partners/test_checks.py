"""The service does not start with settings under which anyone is a trusted proxy, or no one may ask anything."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings

from partners.apps import check_request_settings


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("TRUSTED_PROXIES", ["10.0.0.1/8"], "E003"),
        ("RATE_LIMIT_FACTOR", 0.0, "E004"),
        ("TRUSTED_PROXIES", ["0.0.0.0/0"], "E006"),
        ("TRUSTED_PROXIES", ["::/0"], "E006"),
        ("TRUSTED_PROXIES", ["::ffff:0:0/96"], "E006"),
        ("TRUSTED_PROXIES", ["0.0.0.0/1", "128.0.0.0/1"], "E006"),
        ("TRUSTED_PROXIES", [f"{first}.0.0.0/8" for first in range(5)], "E006"),
    ],
)
def test_a_wrong_setting_is_an_error(settings: Settings, name: str, value: object, problem: str) -> None:
    setattr(settings, name, value)
    with pytest.raises(SystemCheckError, match=problem):
        call_command("check")


def test_private_networks_and_those_of_large_proxies_may_be_trusted(settings: Settings) -> None:
    private = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7", "::1"]
    settings.TRUSTED_PROXIES = [*private, "104.16.0.0/13", "172.64.0.0/13", "2a06:98c0::/29"]
    assert check_request_settings(None) == []
