"""System checks of the settings that every build depends on."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from sweeps.rails.registry import BY_MODE, V2


@register()
def check_build_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Refuse to start with settings under which the contract would revert every sweep."""
    problems: list[CheckMessage] = []
    if settings.EVM_BUILD_MODE not in BY_MODE:
        problems.append(Error(f"SERVICE_EVM_BUILD_MODE must be one of {', '.join(BY_MODE)}.", id="sweeps.E001"))
    if not 0 <= settings.TOTAL_FEE_BPS <= V2.hard_cap_bps:
        problems.append(Error(f"TOTAL_FEE_BPS must be between 0 and {V2.hard_cap_bps}.", id="sweeps.E002"))
    if not 1 <= settings.MAX_TOKENS <= V2.max_tokens:
        problems.append(Error(f"MAX_TOKENS must be between 1 and {V2.max_tokens}.", id="sweeps.E003"))
    return problems
