"""The wiring of the Django project; every app may be configured from here, none imports it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
