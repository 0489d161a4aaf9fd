"""Issues, revokes and lists API keys from the command line, for operations without the admin."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from partners.models import ApiKey, Partner


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError("a number of days above zero")
    return int(text)


class Command(BaseCommand):
    """``api_key issue|revoke|list``."""

    help = "Issue, revoke or list API keys."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the three actions."""
        actions = parser.add_subparsers(dest="action", required=True)
        issue = actions.add_parser("issue", help="Make a key and print it, this once.")
        issue.add_argument("--partner", required=True, help="The partner's name.")
        issue.add_argument("--name", required=True, help="Where the key is used.")
        issue.add_argument("--expires-in-days", type=_days, help="Leave out for a key that does not expire.")
        revoke = actions.add_parser("revoke", help="Refuse a key from now on.")
        revoke.add_argument("key_id", help="The part of the key between the second and third underscore.")
        listing = actions.add_parser("list", help="Show keys, newest first.")
        listing.add_argument("--partner", help="Only this partner's.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's own
        """Run the chosen action."""
        {"issue": self.issue, "revoke": self.revoke, "list": self.list}[options["action"]](options)

    def issue(self, options: dict[str, Any]) -> None:
        """Print the new key alone on standard output, so that it can be piped into a secret store."""
        days = options["expires_in_days"]
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        api_key, plaintext = ApiKey.issue(
            partner=_partner(options["partner"]), name=options["name"], expires_at=expires_at
        )
        self.stderr.write(f"Key {api_key.key_id} of {api_key.partner}; it is shown this once.")
        self.stdout.write(plaintext)

    def revoke(self, options: dict[str, Any]) -> None:
        """Revoke one key."""
        api_key = ApiKey.objects.filter(key_id=options["key_id"]).first()
        if api_key is None:
            raise CommandError(f"There is no key {options['key_id']}.")
        api_key.revoke()
        self.stdout.write(f"Key {api_key.key_id} is revoked since {api_key.revoked_at:%Y-%m-%d %H:%M} UTC.")

    def list(self, options: dict[str, Any]) -> None:
        """Print one line a key."""
        rows = ApiKey.objects.select_related("partner")
        if options["partner"] is not None:
            rows = rows.filter(partner=_partner(options["partner"]))
        now = timezone.now()
        for key in rows:
            self.stdout.write(f"{key.key_id}  {key.state(now):<7}  {key.partner}  {key.name}")


def _partner(name: str) -> Partner:
    partner = Partner.objects.filter(name=name).first()
    if partner is None:
        raise CommandError(f"There is no partner named {name}.")
    return partner
