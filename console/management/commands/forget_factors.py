"""Takes the factors of someone who lost them off the account, so that the next login by password leads to new ones."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction


class Command(BaseCommand):
    """``forget_factors <username>``."""

    help = "Delete the passkeys, the authenticator app and the recovery codes of a person, and log them out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Do both at once."""
        person = User.objects.filter(username=options["username"]).first()
        if person is None:
            raise CommandError(f"There is no account {options['username']}.")
        with transaction.atomic():
            deleted, _ = Authenticator.objects.filter(user=person).delete()
            theirs = [one for one in Session.objects.all() if one.get_decoded().get("_auth_user_id") == str(person.pk)]
            for session in theirs:
                session.delete()
        self.stdout.write(f"{deleted} factors deleted, {len(theirs)} sessions ended.")
