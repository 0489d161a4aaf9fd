"""Registers the shared code with Django, for its templates and static files."""

from django.apps import AppConfig


class SweepApiConfig(AppConfig):
    """The lowest stair: every other app stands on it."""

    name = "sweepapi"
    verbose_name = "Shared"
