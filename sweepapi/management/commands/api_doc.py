"""Writes the record of what the API promises, docs/api.json, and the list of its changes, docs/api-changes.md."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from sweepapi.api.openapi.changes import ApiChange, changes
from sweepapi.api.openapi.document import document
from sweepapi.api.openapi.surface import surface

TITLE = "# Changes of the API\n\n"
INTRODUCTION = """Newest first, as `manage.py api_doc` found them in the OpenAPI document. Within a version, nothing
breaks clients that ignore fields and codes that they do not know. What will go is announced: its answers have
`Deprecation` (RFC 9745) and `Sunset` (RFC 8594).
"""


class Command(BaseCommand):
    """``api_doc``."""

    help = "Record what the API promises and what changed; refuse what breaks clients."

    def handle(self, *_args: Any, **_options: Any) -> None:  # noqa: ANN401 Django's own
        found = differences()
        if breaking := [change.sentence for change in found if change.is_breaking]:
            raise CommandError("This breaks clients, so it needs a new version:\n" + "\n".join(breaking))
        if found:
            _page().write_text(page(_page().read_text(encoding="utf-8"), found), encoding="utf-8")
        record_path().write_text(record(_current()), encoding="utf-8")


def differences() -> list[ApiChange]:
    """Return how the API of the code differs from the recorded one."""
    return changes(json.loads(record_path().read_text(encoding="utf-8")), _current())


def record(current: dict[str, Any]) -> str:
    """Return a surface as JSON with a line for each operation, message and type, so that a diff shows which changed."""
    parts = (f"{json.dumps(part)}: {{\n{_lines(current[part])}\n}}" for part in sorted(current))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(named: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(named[name], sort_keys=True)}" for name in sorted(named))


def page(before: str, found: list[ApiChange]) -> str:
    """Return the page of changes with these on top, under the day's date."""
    heading = f"\n## {datetime.now(UTC).date()}\n\n"
    earlier = before.removeprefix(TITLE + INTRODUCTION)
    lines = "".join(f"- {change.sentence}\n" for change in found)
    return f"{TITLE}{INTRODUCTION}{heading}{lines}{earlier.removeprefix(heading)}"


def _current() -> dict[str, Any]:
    return surface(json.loads(document().plain.body))


def record_path() -> Path:
    """Return where the record is."""
    return Path(settings.BASE_DIR, "docs", "api.json")


def _page() -> Path:
    return Path(settings.BASE_DIR, "docs", "api-changes.md")
