"""Shows the books to operations; nothing can be written here."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet, Sum
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from ledger.models import Account, JournalEntry, Posting
from sweepapi import chains


class ReadOnly:
    """Lets people look who may view, and nobody write, whatever their permissions."""

    def has_add_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        """Refuse."""
        return False


class PostingInline(ReadOnly, TabularInline):
    """The postings of one entry or account."""

    model = Posting
    hide_title = True
    fields = readonly_fields = ["show_account", "direction", "magnitude"]

    @display(description="Account")
    def show_account(self, posting: Posting) -> str:
        """Show the account's name; its asset and partner are the entry's."""
        return posting.account.name

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Posting]:
        """Read the accounts along."""
        return Posting.objects.select_related("account")


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnly, ModelAdmin):
    """Entries with their postings."""

    list_display = ["posted_at", "show_kind", "partner", "show_chain", "token", "tx_hash"]
    list_filter = ["kind", "partner", "chain_id"]
    list_select_related = ["partner"]
    search_fields = ["id", "sweep_ref", "tx_hash"]
    date_hierarchy = "posted_at"
    inlines = [PostingInline]
    fields = readonly_fields = [
        "kind",
        "partner",
        "sweep_ref",
        "incarnation",
        "show_chain",
        "token",
        "tx_hash",
        "posted_at",
        "reverses",
    ]

    @display(description="Kind", label={"sweep_fee": "success", "reversal": "warning", "payout": "info"})
    def show_kind(self, entry: JournalEntry) -> str:
        """Show the kind as a coloured label."""
        return entry.kind

    @display(description="Chain", ordering="chain_id")
    def show_chain(self, entry: JournalEntry) -> str:
        """Show the chain's name."""
        return chains.name_of(entry.chain_id)


@admin.register(Account)
class AccountAdmin(ReadOnly, ModelAdmin):
    """Accounts with their balances."""

    list_display = ["name", "partner", "show_chain", "token", "show_balance"]
    list_filter = ["name", "partner", "chain_id"]
    list_select_related = ["partner"]
    search_fields = ["token"]

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Account]:
        """Sum the postings along, in the same query."""
        return Account.objects.annotate(balance=Sum("postings__amount"))

    @display(description="Chain", ordering="chain_id")
    def show_chain(self, account: Account) -> str:
        """Show the chain's name."""
        return chains.name_of(account.chain_id)

    @display(description="Debits less credits", ordering="balance")
    def show_balance(self, account: Any) -> int:  # noqa: ANN401 an account with the sum beside it
        """Show the balance in the token's smallest unit."""
        return int(account.balance)
