"""Registers the partners with Django, and checks the settings that their keys depend on."""

import re
from collections.abc import Sequence
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from partners.client_address import parsed_network
from sweepapi.crypto.encryption import KEY_BYTES

_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}", re.ASCII | re.IGNORECASE)


class PartnersConfig(AppConfig):
    name = "partners"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import what registers itself when it is imported."""
        import_module("partners.openapi")


@register()
def check_key_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Report missing or malformed keys, unreadable proxies and limits of zero as errors; Django does not start then."""
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
    if not settings.WEBHOOK_KEYS or not all(_KEY.fullmatch(key) for key in settings.WEBHOOK_KEYS):
        problems.append(Error("WEBHOOK_KEYS must be one or more keys of 64 hex digits.", id="partners.E005"))
    return problems
