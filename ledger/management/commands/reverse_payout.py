"""Reverses a payout that was recorded by mistake, from the command line."""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.errors import PayoutRefusedError
from ledger.management.arguments import add_by
from ledger.models import JournalEntry
from ledger.payouts import reverse_payout


class Command(BaseCommand):
    """``reverse_payout <entry> --reason …``."""

    help = "Reverse a payout that was recorded by mistake; record_payout can then record it again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("entry", type=UUID, help="The id of the payout's entry.")
        parser.add_argument("--reason", required=True, help="What was wrong with it.")
        add_by(parser)

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Reverse and print the reversing entry."""
        entry = JournalEntry.objects.filter(pk=options["entry"]).first()
        if entry is None:
            raise CommandError(f"No entry {options['entry']}.")
        try:
            reversal = reverse_payout(entry, reason=options["reason"], recorded_by=options["by"])
        except PayoutRefusedError as error:
            raise CommandError(f"{error} ({error.problem})") from error
        self.stdout.write(f"Reversed by entry {reversal.pk}.")
