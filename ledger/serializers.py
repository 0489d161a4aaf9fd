"""The JSON of postings, in lists and on a sweep."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ledger.models import Account, JournalEntry, Posting
from sweepapi import networks
from sweepapi.api.fields import AccountAddressField, AmountOutputField, TransactionHashField, UtcDateTimeField
from sweepapi.api.listing import ListQuery
from sweepapi.api.schema import example


class PostingSerializer(serializers.Serializer[Any]):
    """One movement on one account; the postings of an entry balance."""

    id = serializers.UUIDField()
    entryId = serializers.UUIDField(source="entry_id")
    kind = serializers.ChoiceField(source="entry.kind", choices=JournalEntry.Kind.choices)
    account = serializers.ChoiceField(
        source="account.name",
        choices=Account.Name.choices,
        help_text="Your part of a fee is credited to partner_settled if the sweep itself paid it (V5), and to "
        "partner_payable if it is paid out later (V4, V1); payouts are credited to partner_paid.",
    )
    direction = serializers.ChoiceField(choices=["debit", "credit"])
    amount = AmountOutputField(source="magnitude")
    token = AccountAddressField(source="entry.asset")
    chain = serializers.SerializerMethodField()
    txHash = TransactionHashField(source="entry.tx_hash")
    postedAt = UtcDateTimeField(source="entry.posted_at")
    reverses = serializers.UUIDField(
        source="entry.reverses_id", allow_null=True, help_text="The entry that this one reverses."
    )

    def get_chain(self, posting: Posting) -> str:
        return networks.current().name_of(posting.entry.network)


class LedgerQuery(ListQuery):
    """Which postings to list."""

    verb = "Posted"


@extend_schema_serializer(
    many=False,  # a page of a list is one object
    examples=[example(Path(__file__).parent / "examples" / "posting_page.json", "The fee of one sweep")],
)
class PostingPage(serializers.Serializer[Any]):
    """One page of postings, newest first."""

    items = PostingSerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")
