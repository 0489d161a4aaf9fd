"""Reads the ledger, each question in one query."""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from ledger.models import Posting
from partners.models import Partner


def postings_of(sweep_ref: UUID) -> QuerySet[Posting]:
    """Return all postings about a sweep in the order they were made, with their entries and accounts."""
    return _with_entry_and_account().filter(entry__sweep_ref=sweep_ref).order_by("entry__posted_at", "pk")


def postings_of_partner(
    partner: Partner, *, network: str | None = None, since: datetime | None = None, until: datetime | None = None
) -> QuerySet[Posting]:
    """Return the postings of a partner's entries on a network, posted at or after ``since`` and before ``until``."""
    postings = _with_entry_and_account().filter(entry__partner=partner)
    if network is not None:
        postings = postings.filter(entry__network=network)
    if since is not None:
        postings = postings.filter(entry__posted_at__gte=since)
    if until is not None:
        postings = postings.filter(entry__posted_at__lt=until)
    return postings


def _with_entry_and_account() -> QuerySet[Posting]:
    return Posting.objects.select_related("entry", "account")
