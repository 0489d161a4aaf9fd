"""Registers the shared part of the EVM rails with Django, for its tables and the check of its setting."""

from importlib import import_module

from django.apps import AppConfig


class EvmConfig(AppConfig):
    name = "sweeps.rails.evm"
    label = "evm"
    verbose_name = "EVM chains"

    def ready(self) -> None:
        """Register the system check; importing it is what registers it."""
        import_module("sweeps.rails.evm.checks")
