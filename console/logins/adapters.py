"""What the accounts' library asks of this project: limits, no sign-up, encrypted secrets of authenticator apps."""

import base64
import hashlib
import time
from threading import Semaphore
from typing import Any

import structlog
from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from console.logins.attempts import LoginAttempt
from console.logins.sessions import STARTED
from partners.client_address import client_address
from sweepapi.monitoring import metrics

# A flood from many addresses, of many accounts, takes one core, holds threads no longer than this, and stores few rows.
HASHING_SECONDS = 0.25
_hashing = Semaphore(1)

log = structlog.get_logger(__name__)

# From the start, so that the first one is an increase, as Prometheus sees it.
_logins = {outcome: metrics.LOGINS.labels(outcome) for outcome in ("succeeded", "failed", "refused")}


class AccountAdapter(DefaultAccountAdapter):
    """Logins by password."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:  # noqa: ANN401 the library's signature
        """Return the account whose password this is; raises ``ValidationError`` after too many wrong ones."""
        attempt = LoginAttempt.of(str(credentials.get("username", "")), client_address(request))
        if not _hashing.acquire(timeout=HASHING_SECONDS):
            raise self.validation_error("too_many_login_attempts")
        try:
            if not attempt.admitted():
                _logins["refused"].inc()
                log.warning("login_refused", account=attempt.account, address=str(attempt.address))
                raise self.validation_error("too_many_login_attempts")
            user: User | None = super().authenticate(request, **credentials)
        finally:
            _hashing.release()
        if user is None:
            _logins["failed"].inc()
            log.warning("login_failed", account=attempt.account, address=str(attempt.address))
        else:
            _logins["succeeded"].inc()
            attempt.uncount()
        return user

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        return False

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Ask again before factors and passwords are changed, but not someone who has just logged in."""
        ago = time.time() - context.request.session.get(STARTED, time.time())
        return ago > app_settings.REAUTHENTICATION_TIMEOUT and bool(super().is_reauthentication_required(app=app))

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return what the limits go by, for the library's own records."""
        return str(client_address(request))


class FactorAdapter(DefaultMFAAdapter):
    """Second factors: the secrets of authenticator apps can be read with the console's key alone."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()


class IdentityAdapter(DefaultSocialAccountAdapter):
    """Logins by an identity provider, which knows people but makes no accounts here."""

    def is_open_for_signup(self, _request: HttpRequest, _login: object) -> bool:
        return False


def _cipher() -> Fernet:
    digest = hashlib.sha256(b"sweepapi console, secrets of authenticator apps" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
