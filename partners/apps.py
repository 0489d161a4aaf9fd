"""Registers the partners with Django, and checks the settings of proxies and limits."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from partners.client_address import parsed_network

# Of all proxies together. The private networks have less, and so have the largest that rent theirs out.
MOST_ADDRESSES = {4: 2**26, 6: 2**122}


class PartnersConfig(AppConfig):
    name = "partners"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import what registers itself when it is imported."""
        import_module("partners.openapi")


@register()
def check_request_settings(app_configs: Sequence[AppConfig] | None, **_kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Report proxies that are unreadable or could be anyone, and limits of zero, as errors: Django does not start."""
    problems: list[CheckMessage] = []
    addresses = Counter[int]()
    for text in settings.TRUSTED_PROXIES:
        try:
            network = parsed_network(text)
        except ValueError as error:
            problems.append(Error(f"TRUSTED_PROXIES: {error}.", id="partners.E003"))
        else:
            addresses[network.version] += network.num_addresses
    if any(count > MOST_ADDRESSES[version] for version, count in addresses.items()):
        anyone = "TRUSTED_PROXIES must name your proxies alone: with so many addresses anyone could be one of them."
        problems.append(Error(anyone, id="partners.E006"))
    if not settings.RATE_LIMIT_FACTOR > 0:
        problems.append(Error("RATE_LIMIT_FACTOR must be above 0.", id="partners.E004"))
    return problems
