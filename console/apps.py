"""The console as a Django app, and the library's accounts beside it."""

from typing import Any

from allauth.account.apps import AccountConfig
from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        post_migrate.connect(_write_roles, sender=self)


class AccountsConfig(AccountConfig):
    """The library's app for every process: the API has its tables too, but not its middleware, which it insists on."""

    def ready(self) -> None:
        """Skip the look at the middleware."""


def _write_roles(using: str, **_signal: Any) -> None:  # noqa: ANN401 Django's signature
    from console.roles import write_roles  # noqa: PLC0415 models exist after the apps are loaded

    write_roles(using)
