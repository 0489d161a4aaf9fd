"""Issues, revokes and lists API keys from the command line, for operators without access to the admin."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from partners.models import ApiKey, Partner


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError("must be a whole number of days, at least 1")
    return int(text)


class Command(BaseCommand):
    """``api_key issue|revoke|list``."""

    help = "Issue, revoke or list API keys."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        issue = actions.add_parser("issue", help="Issue a key and print it once.")
        issue.add_argument("--partner", required=True, help="The partner's name.")
        issue.add_argument("--name", required=True, help="Where the key is used.")
        issue.add_argument("--expires-in-days", type=_days, help="Without this option the key does not expire.")
        revoke = actions.add_parser("revoke", help="Revoke a key.")
        revoke.add_argument("key_id", help="The part of the key between the second and third underscore.")
        listing = actions.add_parser("list", help="List keys, newest first.")
        listing.add_argument("--partner", help="Only keys of this partner.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        {"issue": self.issue, "revoke": self.revoke, "list": self.list}[options["action"]](options)

    def issue(self, options: dict[str, Any]) -> None:
        """Print the new key alone on standard output, so that it can be piped into a secret store."""
        days = options["expires_in_days"]
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        api_key, plaintext = ApiKey.issue(
            partner=_partner(options["partner"]), name=options["name"], expires_at=expires_at
        )
        self.stderr.write(f"Key {api_key.key_id} of {api_key.partner}; it is shown only once.")
        self.stdout.write(plaintext)

    def revoke(self, options: dict[str, Any]) -> None:
        api_key = ApiKey.objects.filter(key_id=options["key_id"]).first()
        if api_key is None:
            raise CommandError(f"No key {options['key_id']}.")
        api_key.revoke()
        self.stdout.write(f"Key {api_key.key_id} was revoked at {api_key.revoked_at:%Y-%m-%d %H:%M} UTC.")

    def list(self, options: dict[str, Any]) -> None:
        rows = ApiKey.objects.select_related("partner")
        if options["partner"] is not None:
            rows = rows.filter(partner=_partner(options["partner"]))
        now = timezone.now()
        for key in rows:
            self.stdout.write(f"{key.key_id}  {key.state(now):<7}  {key.partner}  {key.name}")


def _partner(name: str) -> Partner:
    partner = Partner.objects.filter(name=name).first()
    if partner is None:
        raise CommandError(f"No partner named {name}.")
    return partner
