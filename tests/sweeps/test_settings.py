"""Settings under which every build would fail are refused before anything is served."""

from typing import Any

import pytest
from django.conf import settings

from sweeps.checks import check_build_settings


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("EVM_BUILD_MODE", "v5_partner_fee", "sweeps.E001"),
        ("TOTAL_FEE_BPS", 301, "sweeps.E002"),
        ("TOTAL_FEE_BPS", -1, "sweeps.E002"),
        ("MAX_TOKENS", 31, "sweeps.E003"),
        ("MAX_TOKENS", 0, "sweeps.E003"),
    ],
)
def test_a_setting_under_which_every_build_would_fail_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, problem: str
) -> None:
    assert check_build_settings(None) == []
    monkeypatch.setattr(settings, name, value)
    assert [found.id for found in check_build_settings(None)] == [problem]
