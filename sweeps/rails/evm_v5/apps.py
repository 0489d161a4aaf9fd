"""Registers the V5 rail with Django, for its tables."""

from django.apps import AppConfig


class EvmV5Config(AppConfig):
    name = "sweeps.rails.evm_v5"
    label = "evm_v5"
