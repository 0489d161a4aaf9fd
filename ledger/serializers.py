"""The JSON of postings, in lists and on a sweep, of balances, and of the records that are signed."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ledger.assets import KnownAssets
from ledger.models import Account, Asset, JournalEntry, Posting
from ledger.totals import AssetTotals
from sweepapi import networks
from sweepapi.api.input.fields import (
    AccountAddressResponseField,
    AmountOutputField,
    AnyTransactionHashField,
    SignedAmountOutputField,
    TokenField,
    TransactionHashResponseField,
    UtcDateTimeField,
    UuidTextField,
    WalletField,
    WholeTokensField,
)
from sweepapi.api.input.listing import ListQuery
from sweepapi.api.input.pagination import QuerySerializer
from sweepapi.api.openapi.schema import example
from sweepapi.token_amounts import whole_tokens

NULL_IF_UNKNOWN = "Null if the ledger does not know the token, as in books of its first release."


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
    token = AccountAddressResponseField(source="entry.asset")
    chain = serializers.SerializerMethodField()
    txHash = TransactionHashResponseField(source="entry.tx_hash")
    postedAt = UtcDateTimeField(source="entry.posted_at")
    reverses = serializers.UUIDField(
        source="entry.reverses_id", allow_null=True, help_text="The entry that this one reverses."
    )

    def get_chain(self, posting: Posting) -> str:
        return networks.current().name_of(posting.entry.network)


class EntryPostingSerializer(PostingSerializer):
    """A posting with the facts of its entry; how assets are shown is in the context, as ``assets``."""

    number = serializers.IntegerField(
        source="entry.numbered.partner_number",
        help_text="Of the entry among yours: 0, 1, 2, without gaps, in the order in which they entered the ledger.",
    )
    numberedAt = UtcDateTimeField(
        source="entry.numbered.numbered_at",
        help_text="When it entered the ledger, about a second after postedAt. Never earlier than that of a lower "
        "number; months and balances of the past go by it.",
    )
    sweepId = serializers.UUIDField(source="entry.sweep_ref", allow_null=True, help_text="Null for payouts.")
    wallet = AccountAddressResponseField(
        source="entry.wallet", allow_null=True, help_text="The sweep's. Null for payouts."
    )
    symbol = serializers.SerializerMethodField(help_text=f"As the token names itself. {NULL_IF_UNKNOWN}")
    decimals = serializers.SerializerMethodField(help_text=NULL_IF_UNKNOWN)
    amountFormatted = serializers.SerializerMethodField(help_text=f"The amount in whole tokens. {NULL_IF_UNKNOWN}")

    def get_symbol(self, posting: Posting) -> str | None:
        asset = self._asset(posting)
        return None if asset is None else asset.symbol

    def get_decimals(self, posting: Posting) -> int | None:
        asset = self._asset(posting)
        return None if asset is None else asset.decimals

    @extend_schema_field(WholeTokensField(allow_null=True))
    def get_amountFormatted(self, posting: Posting) -> str | None:  # noqa: N802 - named after its field
        asset = self._asset(posting)
        return None if asset is None else whole_tokens(posting.magnitude, asset.decimals)

    def _asset(self, posting: Posting) -> Asset | None:
        assets: KnownAssets = self.context["assets"]
        return assets.find(posting.entry.network, posting.entry.asset)


class LedgerQuery(ListQuery):
    """Which entries to list."""

    verb = "Entered the ledger"

    kind = serializers.ChoiceField(choices=JournalEntry.Kind.choices, required=False, help_text="Of the entry.")
    account = serializers.ChoiceField(
        choices=Account.Name.choices, required=False, help_text="Lists the postings on this account only."
    )
    token = TokenField(required=False, source="asset", help_text="The token's address, in any valid casing, or mint.")
    sweepId = UuidTextField(required=False, source="sweep_ref", help_text="sweepId of the build.")
    wallet = WalletField(required=False, help_text="The user's address, in any valid casing, or key.")
    txHash = AnyTransactionHashField(required=False, source="tx_hash", help_text="Of the sweep or the payout.")


@extend_schema_serializer(
    many=False,  # a page of a list is one object
    examples=[example(Path(__file__).parent / "examples" / "posting_page.json", "The fee of one sweep")],
)
class PostingPage(serializers.Serializer[Any]):
    """One page of entries, newest first: all postings of each, one after the other."""

    items = EntryPostingSerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")


class BalancesQuery(QuerySerializer):
    """The time of which balances are asked for."""

    at = UtcDateTimeField(
        required=False, help_text="Counts the entries with a numberedAt up to this time; now if left out."
    )


BALANCE_FIGURES = ("earned", "settled", "accrued", "paid", "owed", "available")


class FormattedBalanceSerializer(serializers.Serializer[Any]):
    """The amounts of a balance in whole tokens."""

    earned = WholeTokensField()
    settled = WholeTokensField()
    accrued = WholeTokensField()
    paid = WholeTokensField()
    owed = WholeTokensField()
    available = WholeTokensField()


class BalanceSerializer(serializers.Serializer[AssetTotals]):
    """What you earned in one token on one chain, and what of it was paid; less what reorganisations reversed."""

    chain = serializers.SerializerMethodField()
    token = AccountAddressResponseField(source="asset")
    symbol = serializers.CharField(source="shown.symbol", default=None, allow_null=True, help_text=NULL_IF_UNKNOWN)
    decimals = serializers.IntegerField(
        source="shown.decimals", default=None, allow_null=True, help_text=NULL_IF_UNKNOWN
    )
    earned = SignedAmountOutputField(help_text="settled and accrued together.")
    settled = SignedAmountOutputField(help_text="Paid to you on chain by the sweeps themselves (V5).")
    accrued = SignedAmountOutputField(help_text="By sweeps whose fees are paid out later (V4, V1).")
    paid = SignedAmountOutputField(help_text="Paid out of what accrued.")
    owed = SignedAmountOutputField(
        help_text="Accrued and not paid out; below zero if more was paid out than a reorganisation left."
    )
    available = SignedAmountOutputField(help_text="The part of owed whose executions are final.")
    formatted = serializers.SerializerMethodField(help_text=f"The amounts in whole tokens. {NULL_IF_UNKNOWN}")

    def get_chain(self, totals: AssetTotals) -> str:
        return networks.current().name_of(totals.network)

    @extend_schema_field(FormattedBalanceSerializer(allow_null=True))
    def get_formatted(self, totals: AssetTotals) -> dict[str, str] | None:
        if totals.shown is None:
            return None
        decimals = totals.shown.decimals
        return {name: whole_tokens(getattr(totals, name), decimals) for name in BALANCE_FIGURES}


@extend_schema_serializer(
    many=False,
    examples=[example(Path(__file__).parent / "examples" / "balances.json", "One token on one chain")],
)
class BalancesSerializer(serializers.Serializer[Any]):
    """Your balances after one entry of the ledger."""

    at = UtcDateTimeField(allow_null=True, help_text="As in the request. Null if it named no time.")
    number = serializers.IntegerField(
        source="last", allow_null=True, help_text="Of the last entry that counts, among yours. Null if none does."
    )
    balances = BalanceSerializer(source="assets", many=True)


class RecordPostingSerializer(serializers.Serializer[Any]):
    """A posting of a record."""

    id = serializers.UUIDField()
    account = serializers.ChoiceField(choices=Account.Name.choices)
    direction = serializers.ChoiceField(choices=["debit", "credit"])
    amount = AmountOutputField()


# A type named `Record` would hide TypeScript's own in generated clients.
@extend_schema_serializer(component_name="EntryRecord")
class RecordSerializer(serializers.Serializer[Any]):
    """An entry as it is a leaf of your tree: nothing in it can change."""

    number = serializers.IntegerField(help_text="Its position in your tree.")
    numberedAt = serializers.DateTimeField(help_text="Decides to which month it belongs.")
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=JournalEntry.Kind.choices)
    sweepId = serializers.UUIDField(allow_null=True, help_text="Null for payouts.")
    network = serializers.CharField(help_text="As CAIP-2 spells it, such as eip155:8453.")
    token = AccountAddressResponseField()
    wallet = AccountAddressResponseField(allow_null=True, help_text="The sweep's. Null for payouts.")
    txHash = serializers.CharField()
    postedAt = serializers.DateTimeField()
    reverses = serializers.UUIDField(allow_null=True, help_text="The entry that this one reverses.")
    postings = RecordPostingSerializer(many=True)
