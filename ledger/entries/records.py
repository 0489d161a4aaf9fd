"""The record of an entry: what partners get signed and what the leaves of their trees are made of.

It holds nothing that could change: no name of a network, no symbol, nothing of what follows the entry.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from ledger.models import EntryNumber, Posting

Record = dict[str, Any]


def records_of(numbers: QuerySet[EntryNumber]) -> list[Record]:
    """Return the records of entries, in two queries.

    Trees are made of millions of them. So the postings are not prefetched: Django makes a query object for each entry
    then, which takes as long as all the rest.
    """
    found = list(numbers.select_related("entry"))
    by_entry = defaultdict(list)
    postings = Posting.objects.filter(entry__in=[number.entry_id for number in found]).select_related("account")
    for posting in postings.order_by("pk"):
        by_entry[posting.entry_id].append(posting)
    return [_record(number, by_entry[number.entry_id]) for number in found]


def records_about(sweep_ref: UUID) -> Sequence[Record]:
    """Return the records of a sweep's entries in the order of their numbers; those without one are missing."""
    return records_of(EntryNumber.objects.filter(entry__sweep_ref=sweep_ref).order_by("number"))


def _record(number: EntryNumber, postings: Sequence[Posting]) -> Record:
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
        "postings": [_posting(posting) for posting in postings],
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
