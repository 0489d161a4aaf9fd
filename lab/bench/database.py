"""Sets Django up for a benchmark, on the database of ``python -m dev exec``."""

import os

import django
from django.core.management import call_command


def set_up() -> None:
    """Load the settings and create the tables; models can be imported afterwards."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")  # the tables would drown in lines about requests
    os.environ.setdefault("DATABASE_CONNECTION_MAX_AGE_SECONDS", "600")  # as gunicorn has it
    django.setup()
    call_command("migrate", verbosity=0)
