"""Registers the ledger with Django, and makes sure that no session can skip its triggers."""

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

# django-pgtrigger's triggers call this function to learn whether a session skips them. The ledger's are never skipped.
_NEVER_SKIP_TRIGGERS = """
    CREATE OR REPLACE FUNCTION public._pgtrigger_should_ignore(trigger_name name) RETURNS boolean
    LANGUAGE sql IMMUTABLE AS 'SELECT false'
"""


class LedgerConfig(AppConfig):
    name = "ledger"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Replace the function after every migrate, since each migration of a trigger restores the original."""
        post_migrate.connect(_never_skip_triggers, sender=self)


def _never_skip_triggers(*, using: str, **_kwargs: object) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(_NEVER_SKIP_TRIGGERS)
