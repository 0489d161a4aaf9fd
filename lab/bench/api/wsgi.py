"""The WSGI application that the benchmarked server runs: the service's, with one more view."""

from django.conf import settings

from config.wsgi import application

settings.ROOT_URLCONF = "lab.bench.api.urls"

__all__ = ["application"]
