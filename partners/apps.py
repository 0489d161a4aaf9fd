"""Registers the partners with Django, and checks the settings that their keys depend on."""

from collections.abc import Sequence
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from partners.keys import MODES


class PartnersConfig(AppConfig):
    name = "partners"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import what registers itself when it is imported."""
        import_module("partners.openapi")


@register()
def check_key_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Report an unknown key mode and an empty pepper as errors, with which Django does not start."""
    problems: list[CheckMessage] = []
    if settings.API_KEY_MODE not in MODES:
        problems.append(Error(f"API_KEY_MODE must be one of {', '.join(MODES)}.", id="partners.E001"))
    if not settings.API_KEY_PEPPER:
        problems.append(Error("API_KEY_PEPPER must not be empty.", id="partners.E002"))
    return problems
