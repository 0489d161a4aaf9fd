"""Reads the ledger, each question in one query."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet, Sum

from ledger.models import Posting
from sweepapi.postgres.sql import utc

# The postings about a row that the statement calls ``sweep``, in the fields and the order of ``PostingSerializer``;
# ``chain`` is the network.
POSTINGS_OF_SWEEP = f"""
SELECT posting.id, entry.id AS "entryId", entry.kind, account.name AS account,
    CASE WHEN posting.amount > 0 THEN 'debit' ELSE 'credit' END AS direction, abs(posting.amount)::text AS amount,
    entry.asset AS token, entry.network AS chain, entry.tx_hash AS "txHash", {utc("entry.posted_at")} AS "postedAt",
    entry.reverses_id AS reverses
FROM ledger_journalentry AS entry
JOIN ledger_posting AS posting ON posting.entry_id = entry.id
JOIN ledger_account AS account ON account.id = posting.account_id
WHERE entry.sweep_ref = sweep.id
ORDER BY entry.posted_at, posting.id
"""


def postings_of(sweep_ref: UUID) -> QuerySet[Posting]:
    """Return all postings about a sweep in the order they were made, with their entries and accounts."""
    postings = Posting.objects.select_related("entry", "account")
    return postings.filter(entry__sweep_ref=sweep_ref).order_by("entry__posted_at", "pk")


@dataclass(frozen=True)
class Booked:
    """What is booked on one account for an execution."""

    asset: str
    account: str
    partner_id: UUID | None  # None on the platform's accounts
    amount: int


def booked_for(execution_refs: Collection[UUID]) -> Mapping[UUID, frozenset[Booked]]:
    """Return what is booked for each execution, the sums over all its entries; zeros are left out."""
    sums = (
        Posting.objects.filter(entry__execution_ref__in=execution_refs)
        .values_list("entry__execution_ref", "account__asset", "account__name", "account__partner_id")
        .annotate(total=Sum("amount"))
        .order_by()
    )
    booked: dict[UUID, set[Booked]] = defaultdict(set)
    for execution_ref, asset, account, partner_id, total in sums:
        if total:
            booked[execution_ref].add(Booked(asset, account, partner_id, int(total)))
    return {execution_ref: frozenset(found) for execution_ref, found in booked.items()}
