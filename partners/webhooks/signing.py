"""The secrets with which messages are signed: made, encrypted for the database, and used, as Standard Webhooks says.

A stored secret is bound to the id of its endpoint.
"""

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings
from standardwebhooks import Webhook

from partners.webhooks.models import WebhookEndpoint
from sweepapi.crypto import encryption

PREFIX = "whsec_"
SECRET_BYTES = 32


def generate() -> str:
    """Return a new secret as partners see it: ``whsec_`` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def encrypt(secret: str, *, endpoint_id: UUID) -> str:
    """Return the secret as it is stored."""
    return encryption.encrypt(secret, keys=_keys(), context=endpoint_id.bytes)


def decrypt(stored: str, *, endpoint_id: UUID) -> str:
    """Return a stored secret; raises ``UndecryptableError``."""
    return encryption.decrypt(stored, keys=_keys(), context=endpoint_id.bytes)


def current_secrets(endpoint: WebhookEndpoint, *, now: datetime) -> list[str]:
    """Return the secrets that sign a message now: after a rotation also the former one, until its end.

    Raises ``UndecryptableError``.
    """
    stored = [endpoint.secret]
    if endpoint.former_secret_until is not None and endpoint.former_secret_until > now:
        stored.append(endpoint.former_secret)
    return [decrypt(one, endpoint_id=endpoint.id) for one in stored]


def signature(current: Sequence[str], *, message_id: str, at: datetime, body: bytes) -> str:
    """Return the ``webhook-signature`` header: a signature of version 1 under each secret, separated by spaces.

    The time is in UTC; its whole seconds are signed, which the header ``webhook-timestamp`` has.
    """
    return " ".join(Webhook(secret).sign(message_id, at, body.decode()) for secret in current)


def _keys() -> list[bytes]:
    return [bytes.fromhex(key) for key in settings.WEBHOOK_KEYS]
