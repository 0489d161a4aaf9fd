"""Begins a new era of statements after the database was restored, so that no name is of two different trees."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.models import StatementEra


class Command(BaseCommand):
    """``begin_statement_era --reason TEXT``."""

    help = "After a restore of the database: sign the statements of months that have none yet under a new name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reason", required=True, help="which backup was restored, and why")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Store the era."""
        if not options["reason"].strip():
            raise CommandError("Say which backup was restored, and why.")
        era = StatementEra.objects.create(reason=options["reason"])
        era.refresh_from_db()
        self.stdout.write(f"Statements that are signed from now on are of era {era.name}.")
