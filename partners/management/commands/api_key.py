"""Issues, rotates, revokes and lists API keys from the command line, for operators without access to the admin."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from partners.client_address import parsed_network
from partners.models import DEFAULT_OVERLAP, SCOPES, ApiKey, Partner
from sweepapi.modes import Mode

MAX_DAYS = 36_500  # a time that a date can hold
MAX_HOURS = 24 * MAX_DAYS


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise ArgumentTypeError(f"must be a whole number of days, from 1 to {MAX_DAYS}")
    return int(text)


def _hours(text: str) -> timedelta:
    if not text.isdecimal() or int(text) > MAX_HOURS:
        raise ArgumentTypeError(f"must be a whole number of hours, at most {MAX_HOURS}")
    return timedelta(hours=int(text))


def _scopes(text: str) -> list[str]:
    scopes = text.split(",")
    if not set(scopes) <= set(SCOPES):
        raise ArgumentTypeError(f"must be of {', '.join(SCOPES)}, separated by commas")
    return scopes


def _network(text: str) -> str:
    try:
        return str(parsed_network(text))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


class Command(BaseCommand):
    """``api_key issue|rotate|revoke|list``."""

    help = "Issue, rotate, revoke or list API keys."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        issue = actions.add_parser("issue", help="Issue a key and print it once.")
        issue.add_argument("--partner", required=True, help="The partner's name.")
        issue.add_argument("--name", required=True, help="Where the key is used.")
        issue.add_argument("--mode", choices=Mode.values, default=Mode.LIVE.value, help="By default, live.")
        issue.add_argument(
            "--scopes",
            type=_scopes,
            default=list(SCOPES),
            help="What the key may do, such as read,ledger; by default, all.",
        )
        issue.add_argument(
            "--allow-ip", type=_network, action="append", default=[], help="Where the key works from; may be repeated."
        )
        issue.add_argument("--expires-in-days", type=_days, help="Without this option the key does not expire.")
        rotate = actions.add_parser("rotate", help="Issue a key that replaces another one, and print it once.")
        rotate.add_argument(
            "--overlap-hours",
            type=_hours,
            dest="overlap",
            default=DEFAULT_OVERLAP,
            help="How long the old key works on; by default, 24 hours.",
        )
        revoke = actions.add_parser("revoke", help="Revoke a key.")
        for parser_of_key in (rotate, revoke):
            parser_of_key.add_argument("key_id", help="The part of the key between the second and third underscore.")
        listing = actions.add_parser("list", help="List keys, newest first.")
        listing.add_argument("--partner", help="Only keys of this partner.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        actions = {"issue": self.issue, "rotate": self.rotate, "revoke": self.revoke, "list": self.list}
        actions[options["action"]](options)

    def issue(self, options: dict[str, Any]) -> None:
        """Print the new key alone on standard output, so that it can be piped into a secret store."""
        days = options["expires_in_days"]
        api_key, plaintext = ApiKey.issue(
            partner=_partner(options["partner"]),
            name=options["name"],
            mode=options["mode"],
            scopes=options["scopes"],
            allowed_ips=options["allow_ip"],
            expires_at=None if days is None else timezone.now() + timedelta(days=days),
        )
        self.stderr.write(f"Key {api_key.key_id} of {api_key.partner}; it is shown only once.")
        self.stdout.write(plaintext)

    def rotate(self, options: dict[str, Any]) -> None:
        """Print the successor as ``issue`` prints a new key."""
        old = _api_key(options["key_id"])
        try:
            successor, plaintext = old.rotate(overlap=options["overlap"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        old.refresh_from_db()
        self.stderr.write(
            f"Key {successor.key_id} of {successor.partner} replaces {old.key_id}, which works until "
            f"{old.expires_at:%Y-%m-%d %H:%M} UTC; it is shown only once."
        )
        self.stdout.write(plaintext)

    def revoke(self, options: dict[str, Any]) -> None:
        api_key = _api_key(options["key_id"])
        api_key.revoke()
        self.stdout.write(f"Key {api_key.key_id} was revoked at {api_key.revoked_at:%Y-%m-%d %H:%M} UTC.")

    def list(self, options: dict[str, Any]) -> None:
        """Print the keys, and what each may do."""
        rows = ApiKey.objects.select_related("partner")
        if options["partner"] is not None:
            rows = rows.filter(partner=_partner(options["partner"]))
        now = timezone.now()
        for key in rows:
            used = "never" if key.last_used_at is None else f"{key.last_used_at:%Y-%m-%d %H:%M}"
            self.stdout.write(
                f"{key.key_id}  {key.state(now):<7}  {key.mode}  {','.join(key.scopes)}  used {used}  "
                f"{key.partner}  {key.name}"
            )


def _api_key(key_id: str) -> ApiKey:
    api_key = ApiKey.objects.filter(key_id=key_id).first()
    if api_key is None:
        raise CommandError(f"No key {key_id}.")
    return api_key


def _partner(name: str) -> Partner:
    partner = Partner.objects.filter(name=name).first()
    if partner is None:
        raise CommandError(f"No partner named {name}.")
    return partner
