"""Accounts, entries and their postings; nothing can be written here."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import display

from ledger.models import Account, JournalEntry, Posting
from sweepapi import networks
from sweepapi.admin.explorer import shortened, transaction_link
from sweepapi.admin.network_filter import NetworkFilter
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly


class PostingInline(ReadOnly, TabularInline):
    """The postings of one entry."""

    model = Posting
    hide_title = True
    fields = readonly_fields = ["show_account", "direction", "magnitude"]

    @display(description="Account")
    def show_account(self, posting: Posting) -> str:
        """Show the account's name alone: its asset and partner are the entry's."""
        return posting.account.name

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Posting]:
        return Posting.objects.select_related("account")


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnly, AdminPages):
    list_display = ["posted_at", "show_kind", "partner", "show_network", "show_asset", "show_short_hash"]
    list_filter = ["kind", "partner", ("network", NetworkFilter)]
    list_select_related = ["partner"]
    search_fields = ["id", "sweep_ref", "execution_ref", "tx_hash"]
    date_hierarchy = "posted_at"
    inlines = [PostingInline]
    fields = readonly_fields = [
        "show_number",
        "kind",
        "partner",
        "sweep_ref",
        "execution_ref",
        "booking_epoch",
        "show_network",
        "asset",
        "show_hash",
        "posted_at",
        "show_finality",
        "recorded_by",
        "note",
        "reverses",
        "show_reversal",
    ]

    @display(description="Kind", label={"sweep_fee": "success", "reversal": "warning", "payout": "info"})
    def show_kind(self, entry: JournalEntry) -> str:
        return entry.kind

    @display(description="Network", ordering="network")
    def show_network(self, entry: JournalEntry) -> str:
        return networks.current().name_of(entry.network)

    @display(description="Asset", ordering="asset")
    def show_asset(self, entry: JournalEntry) -> SafeString:
        return shortened(entry.asset)

    @display(description="Transaction")
    def show_hash(self, entry: JournalEntry) -> SafeString:
        return transaction_link(entry.network, entry.tx_hash)

    @display(description="Transaction")
    def show_short_hash(self, entry: JournalEntry) -> SafeString:
        return transaction_link(entry.network, entry.tx_hash, shown=shortened(entry.tx_hash))

    @display(description="Number", empty_value="Not yet")
    def show_number(self, entry: JournalEntry) -> int | None:
        """Show its place in the ledger, which it gets after about a second."""
        return entry.numbered.number if hasattr(entry, "numbered") else None

    @display(description="Final since")
    def show_finality(self, entry: JournalEntry) -> str:
        return f"{entry.finality.final_at:%Y-%m-%d %H:%M:%S} UTC" if hasattr(entry, "finality") else ""

    @display(description="Reversed by")
    def show_reversal(self, entry: JournalEntry) -> SafeString | str:
        if not hasattr(entry, "reversed_by"):
            return ""
        url = reverse("admin:ledger_journalentry_change", args=[entry.reversed_by.pk])
        return format_html('<a href="{}">{}</a>', url, entry.reversed_by)


@admin.register(Account)
class AccountAdmin(ReadOnly, AdminPages):
    list_display = ["name", "partner", "show_network", "asset", "show_balance"]
    list_filter = ["name", "partner", ("network", NetworkFilter)]
    list_select_related = ["partner"]
    search_fields = ["asset"]

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Account]:
        """Sum the postings in the same query."""
        return Account.objects.annotate(balance=Sum("postings__amount"))

    @display(description="Network", ordering="network")
    def show_network(self, account: Account) -> str:
        return networks.current().name_of(account.network)

    @display(description="Debits less credits", ordering="balance")
    def show_balance(self, account: Any) -> int:  # noqa: ANN401 an account annotated with its balance
        """Show the balance in the asset's smallest unit."""
        return int(account.balance)
