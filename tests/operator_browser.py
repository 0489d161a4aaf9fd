"""A browser of an operator: the console as its own process serves it, and logged in with a second factor."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from allauth.mfa.models import Authenticator
from django import urls
from django.conf import settings as project
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import override_settings
from pytest_django.live_server_helper import LiveServer

from config.console import settings as console
from console.logins.sessions import SEEN, STARTED

# Each request names the URLs: Django forgets all that it knows of paths when that setting changes.
DIFFERENT = {
    name: value
    for name, value in vars(console).items()
    if name.isupper() and name != "ROOT_URLCONF" and value != getattr(project, name, None)
}

# The library reads some of its settings when its paths are made.
with override_settings(**DIFFERENT):
    URLS = import_module("config.console.urls").__name__


@contextmanager
def served() -> Iterator[str]:
    """Serve the console in a thread, as its own process would, at a name that passkeys can be for; yields the URL."""
    with override_settings(**DIFFERENT, ROOT_URLCONF=URLS, ALLOWED_HOSTS=["localhost"]):
        server = LiveServer("localhost")
        try:
            yield server.url
        finally:
            server.stop()


class ConsoleHandler(ClientHandler):
    """Answers as the console's process does."""

    def __call__(self, environ: dict[str, Any]) -> Any:
        with override_settings(**DIFFERENT):
            return super().__call__(environ)

    def get_response(self, request: HttpRequest) -> Any:
        request.urlconf = URLS
        urls.set_urlconf(URLS)
        return self._middleware_chain(request)  # type: ignore[attr-defined]  # missing in the stubs


class ConsoleClient(Client):
    """A browser at the console's address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.settings = override_settings(**DIFFERENT)  # for what a test does beside its requests
        self.handler = ConsoleHandler(enforce_csrf_checks=options.get("enforce_csrf_checks", False))

    def force_login(self, user: User, backend: str | None = None) -> None:
        """Log in someone who has an authenticator app."""
        Authenticator.objects.get_or_create(user=user, type=Authenticator.Type.TOTP, defaults={"data": {}})
        with override_settings(**DIFFERENT):
            super().force_login(user, backend)
            session = self.session
            session[STARTED] = session[SEEN] = time.time()
            session.save()


def reverse(name: str, args: Sequence[object] | None = None) -> str:
    """Return the path of one of the console's pages."""
    return urls.reverse(name, urlconf=URLS, args=args)
