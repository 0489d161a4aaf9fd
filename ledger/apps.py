"""Registers the ledger with Django and closes the one door around its triggers."""

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

# django-pgtrigger's triggers ask this function whether the session wants to skip them. Books take no such wish.
_NEVER_SKIP_TRIGGERS = """
    CREATE OR REPLACE FUNCTION public._pgtrigger_should_ignore(trigger_name name) RETURNS boolean
    LANGUAGE sql IMMUTABLE AS 'SELECT false'
"""


class LedgerConfig(AppConfig):
    """The books of fees."""

    name = "ledger"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Close the door after every migrate, since each migration of a trigger opens it again."""
        post_migrate.connect(_never_skip_triggers, sender=self)


def _never_skip_triggers(*, using: str, **_kwargs: object) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(_NEVER_SKIP_TRIGGERS)
