"""Registers the shared part of the EVM rails with Django, for its tables."""

from django.apps import AppConfig


class EvmConfig(AppConfig):
    name = "sweeps.rails.evm"
    label = "evm"
