"""The service does not start with settings under which no key works or all keys are weak."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("API_KEY_PEPPER", "", "E002"),
        ("TRUSTED_PROXIES", ["10.0.0.1/8"], "E003"),
        ("RATE_LIMIT_FACTOR", 0.0, "E004"),
        ("WEBHOOK_KEYS", [], "E005"),
        ("WEBHOOK_KEYS", ["00" * 31], "E005"),
        ("WEBHOOK_KEYS", ["11" * 32, ""], "E005"),
    ],
)
def test_a_wrong_key_setting_is_an_error(settings: Settings, name: str, value: object, problem: str) -> None:
    setattr(settings, name, value)
    with pytest.raises(SystemCheckError, match=problem):
        call_command("check")
