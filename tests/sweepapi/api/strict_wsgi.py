"""The WSGI application with the endpoints of ``strict_urls``, for tests that need a real server."""

from django.conf import settings

from config.wsgi import application

settings.ROOT_URLCONF = "tests.sweepapi.api.strict_urls"

__all__ = ["application"]
