"""Authenticates the partner by the x-api-key header."""

from django.conf import settings
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from partners import keys
from partners.models import ApiKey, Partner
from sweepapi.errors import InvalidApiKey, MissingApiKey, PartnerSuspended


class ApiKeyAuthentication(BaseAuthentication):
    """Sets ``request.user`` to the Partner and ``request.auth`` to the ApiKey.

    Malformed, unknown, revoked and expired keys get the same answer, so it reveals nothing about existing keys.
    """

    def authenticate(self, request: Request) -> tuple[Partner, ApiKey]:
        """Return partner and key; raises MissingApiKey, InvalidApiKey or PartnerSuspended."""
        plaintext = request.headers.get("x-api-key")
        if not plaintext:
            raise MissingApiKey
        api_key = _find(plaintext)
        now = timezone.now()
        if api_key is None or not api_key.matches(plaintext) or api_key.state(now) != "live":
            raise InvalidApiKey
        if api_key.partner.status != Partner.Status.ACTIVE:
            raise PartnerSuspended
        api_key.touch(now)
        return api_key.partner, api_key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 DRF's signature
        """Return the WWW-Authenticate header of a 401."""
        return "x-api-key"


def _find(plaintext: str) -> ApiKey | None:
    key_id = keys.key_id_of(plaintext, mode=settings.API_KEY_MODE)
    if key_id is None:
        return None
    return ApiKey.objects.select_related("partner").filter(key_id=key_id).first()


def partner_of(request: Request) -> Partner:
    """Return the authenticated partner; raises MissingApiKey in a view that does not require a key."""
    if not isinstance(request.user, Partner):
        raise MissingApiKey
    return request.user


def mode_of(_request: Request) -> str:
    """Return the mode of the request's API key, ``live`` or ``test``."""
    mode: str = settings.API_KEY_MODE
    return mode
