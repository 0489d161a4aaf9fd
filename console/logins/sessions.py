"""How long a session lasts, and what an account without a second factor reaches."""

import time
from collections.abc import Callable

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse

IDLE_SECONDS = 1_800
STEP_SECONDS = 60  # in which a session that is used is not written again
STARTED, SEEN = "started_at", "seen_at"
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # codes for recovery alone are none
# What anyone who is logged in needs to get a factor, or out.
WITHOUT_FACTOR = (
    "mfa_index",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "account_reauthenticate",
    "account_logout",
    "admin:logout",
)


class SignedInMiddleware:
    """Ends sessions that are a day old or half an hour idle, and sends accounts without a factor to get one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer as the page does, or with a redirect to what has to be done before."""
        if request.user.is_authenticated:
            if _is_over(request):
                logout(request)
                return redirect(settings.LOGIN_URL)
            if not _has_factor(request) and not _is_open_without_factor(request.path):
                return HttpResponseRedirect(reverse("mfa_index"))
        return self.get_response(request)


def _is_over(request: HttpRequest) -> bool:
    now, session = time.time(), request.session
    started = session.setdefault(STARTED, now)
    seen = session.get(SEEN, now)
    if now - started > settings.SESSION_COOKIE_AGE or now - seen > IDLE_SECONDS:
        return True
    if SEEN not in session or now - seen > STEP_SECONDS:
        session[SEEN] = now
    return False


def _has_factor(request: HttpRequest) -> bool:
    return bool(Authenticator.objects.filter(user_id=request.user.pk, type__in=FACTORS).exists())


def _is_open_without_factor(path: str) -> bool:
    return path in {reverse(name) for name in WITHOUT_FACTOR} or path.startswith(f"/{settings.STATIC_URL.strip('/')}/")
