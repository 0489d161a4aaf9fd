"""The arguments that commands share which write to the books: who runs them, and for which partner."""

from argparse import ArgumentTypeError
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from partners.models import Partner

_LONGEST_NAME = 150  # that a journal entry holds


def add_by(parser: CommandParser, *, required: bool = True) -> None:
    """Take the person's name, since several people may share the system's user."""
    parser.add_argument(
        "--by", required=required, type=_person, help="The person who does it, as the books should say."
    )


def partner_named(text: str) -> Partner:
    """Return the partner with this name or id."""
    try:
        found = Partner.objects.filter(pk=UUID(text)).first()
    except ValueError:
        found = Partner.objects.filter(name=text).first()
    if found is None:
        raise CommandError(f"No partner with the name or id {text}.")
    return found


def _person(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise ArgumentTypeError(f"must be the name of a person, of 1 to {_LONGEST_NAME} characters")
    return name
