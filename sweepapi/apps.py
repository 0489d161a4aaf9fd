"""Registers the shared code with Django, for its templates and static files."""

from importlib import import_module

from django.apps import AppConfig


class SweepApiConfig(AppConfig):
    """The lowest layer, which every other app may import."""

    name = "sweepapi"
    verbose_name = "Shared"

    def ready(self) -> None:
        """Register the system check, and what counts calls to providers and lines; importing them does it.

        Unexpected errors are reported from now on.
        """
        import_module("sweepapi.checks")
        import_module("sweepapi.monitoring.lines")
        import_module("sweepapi.monitoring.providers")
        import_module("sweepapi.startup.error_reports").start()
