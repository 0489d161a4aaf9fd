"""Registers the sweeps with Django, and the checks of their settings."""

from importlib import import_module

from django.apps import AppConfig


class SweepsConfig(AppConfig):
    name = "sweeps"

    def ready(self) -> None:
        """Register the system checks; importing them is what registers them."""
        import_module("sweeps.checks")
