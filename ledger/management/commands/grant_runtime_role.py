"""Grants the database role of the running service what it needs and no more; run by the owner after each migrate.

Triggers refuse updates and deletes in the ledger, but the tables' owner can drop the triggers, and TRUNCATE does not
fire them. So the service runs as another role, which owns no table and may not truncate any.
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


class Command(BaseCommand):
    """``grant_runtime_role <role>``."""

    help = "Grant an existing database role what the service needs: no TRUNCATE, no UPDATE or DELETE in the ledger."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Replace the role's grants in one transaction."""
        role = options["role"]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [role])
            found = cursor.fetchone()
            if found is None or found[0]:
                raise CommandError(f"{role} must be an existing role and not a superuser.")
            tables = [model._meta for model in apps.get_app_config("ledger").get_models()]  # noqa: SLF001
            ledger = [sql.Identifier(table.db_table) for table in tables if not table.proxy]
            grants = sql.SQL(_GRANTS).format(role=sql.Identifier(role), ledger=sql.SQL(", ").join(ledger))
            cursor.execute(grants.as_string(cursor.connection))
        self.stdout.write(f"{role} may use the service's tables, and may only append to the ledger.")
