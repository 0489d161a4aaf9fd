"""Registers what the rails on EVM chains share with Django, for its tables."""

from django.apps import AppConfig


class EvmConfig(AppConfig):
    name = "sweeps.rails.evm"
    label = "evm"
