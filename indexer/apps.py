"""Registers the app whose Celery tasks follow sweeps on chain."""

from django.apps import AppConfig


class IndexerConfig(AppConfig):
    """The worker."""

    name = "indexer"
