"""Registers the app that builds, confirms and settles sweeps."""

from django.apps import AppConfig


class SweepsConfig(AppConfig):
    """Sweeps: what was signed, what was sent, what happened."""

    name = "sweeps"
