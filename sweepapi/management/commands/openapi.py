"""Writes the OpenAPI document as it is served."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from sweepapi.api.openapi.document import document


class Command(BaseCommand):
    """``openapi > openapi.json``."""

    help = "Write the OpenAPI document to standard output."

    def handle(self, *_args: Any, **_options: Any) -> None:  # noqa: ANN401 Django's own
        sys.stdout.buffer.write(document().plain.body)
