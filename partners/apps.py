"""Registers the partners with Django, and checks the settings that their keys depend on."""

from collections.abc import Sequence
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from partners.client_address import parsed_network


class PartnersConfig(AppConfig):
    name = "partners"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import what registers itself when it is imported."""
        import_module("partners.openapi")


@register()
def check_key_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Report an empty pepper, unreadable proxies and limits of zero as errors, with which Django does not start."""
    problems: list[CheckMessage] = []
    for text in settings.TRUSTED_PROXIES:
        try:
            parsed_network(text)
        except ValueError as error:
            problems.append(Error(f"TRUSTED_PROXIES: {error}.", id="partners.E003"))
    if not settings.RATE_LIMIT_FACTOR > 0:
        problems.append(Error("RATE_LIMIT_FACTOR must be above 0.", id="partners.E004"))
    if not settings.API_KEY_PEPPER:
        problems.append(Error("API_KEY_PEPPER must not be empty.", id="partners.E002"))
    return problems
