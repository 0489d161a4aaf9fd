"""The record of an entry: what partners get signed and what the leaves of their trees are made of.

It holds nothing that could change: no name of a network, no symbol, nothing of what follows the entry.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from ledger.models import EntryNumber, Posting

Record = dict[str, Any]

_POSTINGS = Prefetch("entry__postings", Posting.objects.select_related("account").order_by("pk"))


def records_of(numbers: QuerySet[EntryNumber]) -> list[Record]:
    """Return the records of entries, in two queries."""
    return [_record(number) for number in numbers.select_related("entry").prefetch_related(_POSTINGS)]


def records_about(sweep_ref: UUID) -> Sequence[Record]:
    """Return the records of a sweep's entries in the order of their numbers; those without one are missing."""
    return records_of(EntryNumber.objects.filter(entry__sweep_ref=sweep_ref).order_by("number"))


def _record(number: EntryNumber) -> Record:
    entry = number.entry
    return {
        "number": number.partner_number,
        "numberedAt": _text(number.numbered_at),
        "id": str(entry.id),
        "kind": entry.kind,
        "sweepId": None if entry.sweep_ref is None else str(entry.sweep_ref),
        "network": entry.network,
        "token": entry.asset,
        "wallet": entry.wallet,
        "txHash": entry.tx_hash,
        "postedAt": _text(entry.posted_at),
        "reverses": None if entry.reverses_id is None else str(entry.reverses_id),
        "postings": [_posting(posting) for posting in entry.postings.all()],
    }


def _posting(posting: Posting) -> Record:
    return {
        "id": str(posting.id),
        "account": posting.account.name,
        "direction": posting.direction,
        "amount": str(posting.magnitude),
    }


def _text(moment: datetime) -> str:
    """Return a time in UTC, always with microseconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
