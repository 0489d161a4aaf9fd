"""Grants the database roles of the running service what they need and no more; run by the owner after each migrate.

Triggers refuse updates and deletes in the ledger, but the tables' owner can drop the triggers, and TRUNCATE does not
fire them. So the service runs as another role, which owns no table and may not truncate any. Operators' accounts and
sessions are the console's alone: who takes over the API can't log in with one.
"""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction
from psycopg import sql

_GRANTS = """
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role};
    GRANT USAGE ON SCHEMA public TO {role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role};
    REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {role};
    REVOKE UPDATE, DELETE ON {ledger} FROM {role}
"""
_WITHOUT_PEOPLE = "REVOKE ALL ON {people} FROM {role}"
_PEOPLE = ("auth", "admin", "sessions", "account", "mfa", "socialaccount", "console")


class Command(BaseCommand):
    """``grant_runtime_role <role>``."""

    help = "Grant an existing database role what the service needs: no TRUNCATE, no UPDATE or DELETE in the ledger."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role")
        parser.add_argument("--console", action="store_true", help="the role is the console's, which has the accounts")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Replace the role's grants in one transaction."""
        role = options["role"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [role])
            found = cursor.fetchone()
            if found is None or found[0]:
                raise CommandError(f"{role} must be an existing role and not a superuser.")
            grants = sql.SQL(_GRANTS if options["console"] else f"{_GRANTS}; {_WITHOUT_PEOPLE}").format(
                role=sql.Identifier(role), ledger=_tables("ledger"), people=_tables(*_PEOPLE)
            )
            cursor.execute(grants.as_string(cursor.connection))
        beside = ", operators' accounts among them," if options["console"] else ""
        self.stdout.write(f"{role} may use the service's tables{beside} and may only append to the ledger.")


def _tables(*apps_: str) -> sql.Composed:
    """Return the tables of these apps, those between two models included."""
    models = (model for app in apps_ for model in apps.get_app_config(app).get_models(include_auto_created=True))
    names = {model._meta.db_table for model in models if not model._meta.proxy}  # noqa: SLF001
    return sql.SQL(", ").join(map(sql.Identifier, sorted(names)))
