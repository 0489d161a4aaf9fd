"""The argument that says who runs a command that writes to the books."""

from argparse import ArgumentTypeError

from django.core.management.base import CommandParser

_LONGEST_NAME = 150  # that a journal entry holds


def add_by(parser: CommandParser) -> None:
    """Require the person's name, since several people may share the system's user."""
    parser.add_argument("--by", required=True, type=_person, help="The person who does it, as the books should say.")


def _person(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise ArgumentTypeError(f"must be the name of a person, of 1 to {_LONGEST_NAME} characters")
    return name
