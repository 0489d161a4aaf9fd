"""Authenticates the partner by the x-api-key header, in one query that makes no objects of the ORM."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from partners import keys
from partners.client_address import client_address, is_in
from partners.limits import Limit, limits_of
from partners.models import ApiKey, Partner
from partners.wrong_secrets import refusal
from sweepapi.errors import IpNotAllowed, MissingApiKey, PartnerSuspended
from sweepapi.modes import Mode
from sweepapi.postgres.prepared import fetch_json

# Of an unknown key, so that it takes the same work as a wrong secret; no key has this digest.
_NO_DIGEST = "0" * 64
# One row whether there is such a key or not, for the same reason.
_FIND = """
SELECT json_build_array(
    key.id, key.name, key.digest, key.scopes, key.allowed_ips,
    key.revoked_at IS NULL AND COALESCE(key.expires_at > statement_timestamp(), TRUE),
    CASE WHEN COALESCE(key.last_used_at <= statement_timestamp() - interval '1 minute', TRUE)
        THEN statement_timestamp() END,
    partner.id, partner.status, partner.rate_limits)
FROM (SELECT) AS one
LEFT JOIN partners_apikey AS key ON key.key_id = %(key_id)s AND key.mode = %(mode)s
LEFT JOIN partners_partner AS partner ON partner.id = key.partner_id
"""


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sent a request: an API key, with its partner and what it may do."""

    key_id: str
    key_name: str
    partner_id: UUID
    mode: Mode
    scopes: frozenset[str]
    limits: Mapping[str, Limit] = field(default_factory=dict)  # by policy, where they differ from the defaults

    def __str__(self) -> str:
        return f"{self.key_name} ({self.key_id})"


class ApiKeyAuthentication(BaseAuthentication):
    """Sets ``request.auth``, and ``request.user`` as well, to the ``Requester``.

    Malformed, unknown, revoked and expired keys get the same answer, so it reveals nothing about existing keys. All
    but the malformed take the same work, so its time does not either.
    """

    def authenticate(self, request: Request) -> tuple[Requester, Requester]:
        """Return the requester; raises MissingApiKey, IpNotAllowed, PartnerSuspended, or what ``refusal`` returns."""
        plaintext = request.headers.get("x-api-key")
        if not plaintext:
            raise MissingApiKey
        public = keys.public_part(plaintext)
        if public is None:
            raise refusal(request._request, None)  # noqa: SLF001 DRF documents it
        found = fetch_json(_FIND, {"key_id": public.key_id, "mode": public.mode.value})
        pk, name, digest, scopes, allowed_ips, is_live, used_at, partner_id, status, limits = found
        presented = keys.digest_of(plaintext, pepper=settings.API_KEY_PEPPER)
        if not (hmac.compare_digest(digest or _NO_DIGEST, presented) and is_live):
            raise refusal(request._request, public.key_id if pk else None)  # noqa: SLF001 as above
        if allowed_ips:
            _require_address(request, allowed_ips)
        if status != Partner.Status.ACTIVE:
            raise PartnerSuspended
        if used_at is not None:
            ApiKey.touch(pk, datetime.fromisoformat(used_at))
        requester = Requester(public.key_id, name, UUID(partner_id), public.mode, frozenset(scopes), limits_of(limits))
        return requester, requester

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 DRF's signature
        """Return the WWW-Authenticate header of a 401."""
        return "x-api-key"


def _require_address(request: Request, allowed_ips: list[str]) -> None:
    address = client_address(request._request)  # noqa: SLF001 DRF documents it
    if address is None or not is_in(address, allowed_ips):
        raise IpNotAllowed


def requester_of(request: Request) -> Requester:
    """Return who sent the request; raises MissingApiKey in a view that does not require a key."""
    if not isinstance(request.auth, Requester):
        raise MissingApiKey
    return request.auth


def partner_of(request: Request) -> Partner:
    """Return the partner of the key, with a query; most views need no more of it than ``requester_of`` has."""
    return Partner.objects.get(pk=requester_of(request).partner_id)
