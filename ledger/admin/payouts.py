"""The payouts that were recorded, each with what was checked, and the actions that check again and reverse one."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from ledger import payouts
from ledger.admin.permissions import PayoutActions
from ledger.errors import PayoutRefusedError
from ledger.models import Account, Asset, JournalEntry, Payout
from sweepapi import networks
from sweepapi.admin.explorer import shortened, transaction_link
from sweepapi.admin.network_filter import NetworkFilter
from sweepapi.admin.objects import back_to, object_or_404
from sweepapi.admin.read_only import ReadOnly
from sweepapi.admin.reason import ReasonForm
from sweepapi.token_amounts import token_amount


@admin.register(Payout)
class PayoutAdmin(ReadOnly, PayoutActions):
    list_display = ["show_time", "show_partner", "show_network", "show_short_asset", "show_amount", "show_state"]
    list_filter = ["entry__partner", ("entry__network", NetworkFilter)]
    search_fields = ["entry__id", "entry__tx_hash", "recipient"]
    ordering = ["-entry__posted_at", "-entry"]
    actions_detail = ["check_again", "reverse_payout"]
    fields = readonly_fields = [
        "show_state",
        "show_partner",
        "show_network",
        "show_asset",
        "show_amount",
        "recipient",
        "show_sender",
        "show_block",
        "show_hash",
        "show_time",
        "show_recorded_by",
        "show_note",
        "show_entry",
        "show_reversal",
    ]

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Payout]:
        """Join the entry, and read the amount from its postings."""
        paid = Q(entry__postings__account__name=Account.Name.PARTNER_PAYABLE)
        rows = Payout.objects.select_related("entry__partner", "entry__reversed_by")
        known = Asset.objects.filter(network=OuterRef("entry__network"), asset=OuterRef("entry__asset"))
        return rows.annotate(
            amount=Sum("entry__postings__amount", filter=paid),
            symbol=Subquery(known.values("symbol")),
            decimals=Subquery(known.values("decimals")),
        )

    @display(description="Time", ordering="entry__posted_at")
    def show_time(self, payout: Payout) -> str:
        return f"{payout.entry.posted_at:%Y-%m-%d %H:%M:%S} UTC"

    @display(description="Partner", ordering="entry__partner__name")
    def show_partner(self, payout: Payout) -> str:
        return payout.entry.partner.name

    @display(description="Network", ordering="entry__network")
    def show_network(self, payout: Payout) -> str:
        return networks.current().name_of(payout.entry.network)

    @display(description="Asset", ordering="entry__asset")
    def show_short_asset(self, payout: Payout) -> SafeString:
        return shortened(payout.entry.asset)

    @display(description="Asset")
    def show_asset(self, payout: Payout) -> str:
        return payout.entry.asset

    @display(description="Amount", ordering="amount")
    def show_amount(self, payout: Any) -> str:  # noqa: ANN401 a payout annotated with its amount and how that is shown
        if payout.decimals is None:
            return str(payout.amount)
        return token_amount(payout.amount, payout.decimals, payout.symbol)

    @display(description="State", label={"checked on chain": "success", "not checked": "warning", "reversed": "danger"})
    def show_state(self, payout: Payout) -> str:
        if hasattr(payout.entry, "reversed_by"):
            return "reversed"
        return "not checked" if payout.sender is None else "checked on chain"

    @display(description="Sender")
    def show_sender(self, payout: Payout) -> str:
        return payout.sender or "Not checked: the network had no provider."

    @display(description="Block")
    def show_block(self, payout: Payout) -> str:
        return "" if payout.block_number is None else str(payout.block_number)

    @display(description="Transaction")
    def show_hash(self, payout: Payout) -> SafeString:
        return transaction_link(payout.entry.network, payout.entry.tx_hash)

    @display(description="Recorded by")
    def show_recorded_by(self, payout: Payout) -> str:
        return payout.entry.recorded_by

    @display(description="Note")
    def show_note(self, payout: Payout) -> str:
        return payout.entry.note

    @display(description="Entry")
    def show_entry(self, payout: Payout) -> SafeString:
        return _link(payout.entry)

    @display(description="Reversal")
    def show_reversal(self, payout: Payout) -> SafeString | str:
        reversal = getattr(payout.entry, "reversed_by", None)
        if reversal is None:
            return ""
        return format_html("{}, by {}: {}", _link(reversal), reversal.recorded_by, reversal.note)

    @action(
        description="Reverse",
        url_path="reverse",
        permissions=["record"],
        icon="undo",
        dialog={
            "title": "Reverse this payout",
            "description": "For a payout that was recorded by mistake. The amount is owed again, and the transaction "
            "can be recorded again, correctly. No money moves.",
            "form_class": ReasonForm,
            "form_submit_text": "Reverse",
        },
    )
    def reverse_payout(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Reverse the payout for the given reason."""
        payout, reason = object_or_404(self, request, object_id), form.cleaned_data["reason"]
        try:
            payouts.reverse_payout(payout.entry, reason=reason, recorded_by=request.user.get_username())
        except PayoutRefusedError as error:
            messages.error(request, str(error))
        else:
            self.log_change(request, payout, f"Reversed: {reason}")
            messages.success(request, "The payout was reversed.")
        return back_to(self, object_id)

    @action(
        description="Check again",
        url_path="check-again",
        permissions=["record"],
        icon="history",
        dialog={
            "title": "Look at this payout on chain again",
            "description": "Says whether the transaction is still there and paid this. Nothing is changed.",
            "form_class": None,
            "form_submit_text": "Check again",
        },
    )
    def check_again(self, request: HttpRequest, _form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Read the chain and say what it shows."""
        payout = object_or_404(self, request, object_id)
        try:
            payment = payouts.find_payment(networks.current(), payout.entry)
        except PayoutRefusedError as error:
            messages.error(request, f"{error} ({error.problem})")
        else:
            if payment is None:
                messages.warning(request, "Nothing was checked: this network has no provider.")
            else:
                messages.success(request, f"It was paid in block {payment.block_number}, which is final.")
        return back_to(self, object_id)


def _link(entry: JournalEntry) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("admin:ledger_journalentry_change", args=[entry.pk]), entry)
