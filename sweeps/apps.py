"""Registers the sweeps with Django and checks the settings that every build depends on."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from sweepapi.evm.v5 import HARD_CAP_BPS, MAX_LEGS
from sweeps.modes import BUILD_MODES


class SweepsConfig(AppConfig):
    """Sweeps: what was signed, what was sent, what happened."""

    name = "sweeps"


@register()
def check_build_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse to start with settings under which the contract would revert whatever is built."""
    problems: list[CheckMessage] = []
    if settings.EVM_BUILD_MODE not in BUILD_MODES:
        problems.append(Error(f"SERVICE_EVM_BUILD_MODE must be one of {', '.join(BUILD_MODES)}.", id="sweeps.E001"))
    if not 0 <= settings.TOTAL_FEE_BPS <= HARD_CAP_BPS:
        problems.append(Error(f"TOTAL_FEE_BPS must lie between 0 and {HARD_CAP_BPS}.", id="sweeps.E002"))
    if not 1 <= settings.MAX_TOKENS <= MAX_LEGS:
        problems.append(Error(f"MAX_TOKENS must lie between 1 and {MAX_LEGS}.", id="sweeps.E003"))
    return problems
