"""Lets a request be repeated under its Idempotency-Key: it has its effect once, and later ones get the first answer.

A request claims its key's row before it does anything else. Its answer is stored by the transaction of its effect, and
only under the claim's token, so that both happen or neither does: if the claim was taken over meanwhile, the effect is
rolled back. All times are the database's.
"""

from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from django.db.models import F
from django.db.models.functions import Now

from partners.models import IdempotencyRecord
from sweepapi.crypto.canonical_json import canonical
from sweepapi.errors import IdempotencyInProgress, IdempotencyKeyReused
from sweepapi.modes import Mode

KEPT = timedelta(hours=24)
# Longer than any request takes, so what is older died with its process, or will fail to store its answer.
ABANDONED_AFTER = timedelta(seconds=60)
RETRY_AFTER_SECONDS = 2
PURGED_AT_ONCE = 1_000  # in one statement, which has to end within the worker's deadline


def claim(*, partner_id: UUID, mode: Mode, path: str, key: str, body: Any) -> IdempotencyRecord:  # noqa: ANN401 any JSON
    """Return the row of a key: either with the answer of the first request, or claimed by this one.

    Raises ``IdempotencyKeyReused`` if the first request had another body, and ``IdempotencyInProgress`` while it is
    being answered.
    """
    row = {"partner_id": partner_id, "mode": mode, "path": path, "key": key}
    digest = _digest(body)
    while (record := _claim_once(row, digest)) is None:
        pass
    return record


def _claim_once(row: dict[str, Any], digest: str) -> IdempotencyRecord | None:
    """Return the row as ``claim`` does; None if it was released, purged or taken over after it was read."""
    token = uuid4()
    ours = IdempotencyRecord(**row, body_digest=digest, token=token)
    IdempotencyRecord.objects.bulk_create([ours], ignore_conflicts=True)
    record = IdempotencyRecord.objects.filter(**row).annotate(age=Now() - F("started_at")).first()
    if record is None or record.token == token:
        return record
    if record.age < KEPT:
        if record.body_digest != digest:
            raise IdempotencyKeyReused
        if record.status is not None:
            return record
        if record.age < ABANDONED_AFTER:
            raise IdempotencyInProgress(retry_after_seconds=RETRY_AFTER_SECONDS)
    as_read = IdempotencyRecord.objects.filter(pk=record.pk, token=record.token, status=record.status)
    if not as_read.update(token=token, body_digest=digest, started_at=Now(), status=None, body=None):
        return None
    record.token, record.status = token, None
    return record


def keep(claimed: IdempotencyRecord, *, status: int, body: bytes) -> None:
    """Store the answer, in the transaction of its effect; raise ``IdempotencyInProgress`` if the claim was lost."""
    held = IdempotencyRecord.objects.filter(pk=claimed.pk, token=claimed.token)
    if not held.update(status=status, body=body):
        raise IdempotencyInProgress(retry_after_seconds=RETRY_AFTER_SECONDS)


def release(claimed: IdempotencyRecord) -> None:
    """Forget a request that failed, so that it can be sent again; one whose answer was stored is kept."""
    IdempotencyRecord.objects.filter(pk=claimed.pk, token=claimed.token, status=None).delete()


def purge() -> None:
    """Delete the rows of requests that can no longer be repeated."""
    expired = IdempotencyRecord.objects.filter(started_at__lt=Now() - KEPT)
    # The time is compared again, because a row can be claimed while it is selected.
    while expired.filter(pk__in=expired.values("pk")[:PURGED_AT_ONCE]).delete()[0]:
        pass


def _digest(body: Any) -> str:  # noqa: ANN401 any JSON
    """Return a digest that is the same for the same JSON, however it was written."""
    return sha256(canonical(body)).hexdigest()
