"""Registers the Solana rail with Django, for its tables."""

from django.apps import AppConfig


class SolanaV1Config(AppConfig):
    name = "sweeps.rails.solana_v1"
    label = "solana_v1"
