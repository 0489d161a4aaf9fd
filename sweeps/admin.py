"""A sweep on one page for operations: its tokens, what was signed, its transactions and its books.

Nothing is edited here. Three actions exist: void, and two that only ask the worker: look at the chain now, and cancel
on chain.
"""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import InlineModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from ledger.admin import ReadOnly
from ledger.reading import postings_of
from sweepapi import chains
from sweepapi.evm.sending import GWEI
from sweeps.models import Cancellation, FeeAuthorization, Sweep, SweepToken, SweepTransaction
from sweeps.nudge import check_now
from sweeps.voiding import NotCancellableError, NotVoidableError, cancel_on_chain, void

STATUS_LABELS = {"completed": "success", "pending": "info", "expired": "warning", "failed": "danger", "void": "warning"}


class ReasonForm(BaseDialogForm):
    """Why a sweep is withdrawn."""

    reason = forms.CharField(max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


class VoidForm(ReasonForm):
    """Why a sweep is voided, and whether nobody may execute it any more."""

    cancel_on_chain = forms.BooleanField(
        required=False,
        label="Also cancel on chain, at once",
        help_text="The fee signer pays the gas. Once that is mined, nobody can execute what was signed.",
        widget=UnfoldBooleanSwitchWidget,
    )


class TokenInline(ReadOnly, TabularInline):
    """What goes in."""

    model = SweepToken
    hide_title = True
    fields = readonly_fields = ["symbol", "mint", "amount", "min_output", "expected_output", "funding", "router"]


class AuthorizationInline(ReadOnly, StackedInline):
    """What the service signed."""

    model = FeeAuthorization


class CancellationInline(ReadOnly, StackedInline):
    """Who wants it cancelled on chain, and how far that is."""

    model = Cancellation
    hide_title = True
    fields = readonly_fields = ["requested_by", "requested_at", "reason", "last_error", "show_transactions"]

    @display(description="Transactions")
    def show_transactions(self, cancellation: Cancellation) -> SafeString:
        """Show what was signed, the newest last; the one that was mined is named in the sweep's void reason."""
        rows = format_html_join(
            "",
            '<p class="break-all pb-2">{}<br>nonce {} of the account, at most {} gwei, signed at {}</p>',
            (
                (row.tx_hash, row.account_nonce, Decimal(row.max_fee) / GWEI, f"{row.signed_at:%H:%M:%S}")
                for row in cancellation.transactions.all()
            ),
        )
        return rows or SafeString("None yet.")


class TransactionInline(ReadOnly, TabularInline):
    """What was submitted for it."""

    model = SweepTransaction
    hide_title = True
    fields = readonly_fields = [
        "tx_hash",
        "status",
        "source",
        "block_number",
        "confirmations",
        "finality",
        "gas_used",
        "submitted_at",
        "reason",
    ]


@admin.register(Sweep)
class SweepAdmin(ReadOnly, ModelAdmin):
    """Sweeps, newest first."""

    list_display = ["id", "show_status", "partner", "show_chain", "wallet", "is_open", "flags", "created_at"]
    list_filter = ["status", "is_open", "partner", "chain_id"]
    list_select_related = ["partner"]
    search_fields = ["id", "wallet", "transactions__tx_hash"]
    inlines = [TokenInline, AuthorizationInline, TransactionInline, CancellationInline]
    actions_detail = ["check_now", "void", "cancel_on_chain"]
    fieldsets = [
        (None, {"fields": ["id", "show_status", "flags", "partner", "show_chain", "wallet", "created_at"]}),
        (
            "Output",
            {
                "fields": [
                    "output_symbol",
                    "output_token",
                    "expected_gross",
                    "min_gross",
                    "gross_output",
                    "user_amount",
                    "partner_fee",
                    "protocol_fee",
                ]
            },
        ),
        (
            "Checks",
            {
                "fields": [
                    "is_open",
                    "next_check_at",
                    "check_attempts",
                    "last_checked_at",
                    "last_error",
                    "incarnation",
                    "completed_at",
                    "closed_at",
                    "voided_at",
                    "void_reason",
                ]
            },
        ),
        ("Ledger", {"fields": ["show_postings"]}),
    ]
    readonly_fields = ["show_status", "show_chain", "show_postings"]

    @display(description="Status", ordering="status", label=STATUS_LABELS)
    def show_status(self, sweep: Sweep) -> str:
        """Show the status as a coloured label."""
        return sweep.status

    @display(description="Chain", ordering="chain_id")
    def show_chain(self, sweep: Sweep) -> str:
        """Show the chain's name."""
        return chains.name_of(sweep.chain_id)

    @display(description="Postings")
    def show_postings(self, sweep: Sweep) -> SafeString:
        """Show the postings about this sweep, found by reference, each with a link to its entry."""
        rows = format_html_join(
            "",
            '<tr><td class="pr-6 py-1"><a class="text-primary-600" href="{}">{}</a></td><td class="pr-6">{}</td>'
            '<td class="pr-6">{}</td><td class="font-mono">{}</td></tr>',
            (
                (
                    reverse("admin:ledger_journalentry_change", args=[posting.entry_id]),
                    posting.entry.kind,
                    posting.account.name,
                    posting.direction,
                    posting.magnitude,
                )
                for posting in postings_of(sweep.id)
            ),
        )
        return format_html("<table>{}</table>", rows) if rows else SafeString("None.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Sweep]:
        """Read the partner along."""
        sweeps: QuerySet[Sweep] = super().get_queryset(request)
        return sweeps.select_related("partner")

    def get_inlines(self, request: HttpRequest, obj: Sweep | None) -> "list[type[InlineModelAdmin[Any, Any]]]":
        """Leave the cancellation out where nobody wants one: it would be a form of dashes."""
        inlines = super().get_inlines(request, obj)
        wanted = Cancellation.objects.filter(sweep=obj).exists()
        return [inline for inline in inlines if wanted or inline is not CancellationInline]

    def has_operate_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Let those act who may change sweeps, though nobody edits one."""
        return request.user.has_perm("sweeps.change_sweep")

    @action(
        description="Check now",
        url_path="check-now",
        permissions=["operate"],
        icon="refresh",
        dialog={
            "title": "Look at the chain now",
            "description": "The worker reads the chain and settles what it finds.",
            "form_class": None,
            "form_submit_text": "Check now",
        },
    )
    def check_now(self, request: HttpRequest, _form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Make the sweep due and nudge the worker."""
        sweep = get_object_or_404(Sweep, id=object_id)
        if check_now(sweep.id):
            self.log_change(request, sweep, "Asked for a check.")
            messages.success(request, "The worker was asked to look at the chain.")
        else:
            messages.warning(request, "This sweep is closed: the chain can't change it any more.")
        return self._back_to(object_id)

    @action(
        description="Void",
        url_path="void",
        permissions=["operate"],
        icon="block",
        dialog={
            "title": "Void this sweep",
            "description": "Only a pending sweep without a submitted transaction can be voided. "
            "Until its deadline the user can still execute what was signed, unless it is cancelled on chain; an "
            "execution would be booked and flagged.",
            "form_class": VoidForm,
            "form_submit_text": "Void",
        },
    )
    def void(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Void the sweep for the given reason, and on request cancel it on chain."""
        reason, cancels = form.cleaned_data["reason"], form.cleaned_data["cancel_on_chain"]
        cancelled_by = request.user.get_username() if cancels else None
        try:
            sweep = void(sweep_id=get_object_or_404(Sweep, id=object_id).id, reason=reason, cancelled_by=cancelled_by)
        except NotVoidableError:
            messages.error(request, "This sweep is not pending, or a transaction was submitted for it.")
        else:
            self.log_change(request, sweep, f"Voided{' and asked to cancel on chain' if cancels else ''}: {reason}")
            messages.success(
                request, "The sweep is void." + (" The worker was asked to cancel it on chain." if cancels else "")
            )
        return self._back_to(object_id)

    @action(
        description="Cancel on chain",
        url_path="cancel-on-chain",
        permissions=["operate"],
        icon="link_off",
        dialog={
            "title": "Cancel this sweep on chain",
            "description": "For any open sweep that was not executed, whatever was submitted for it, until its "
            "deadline. The fee signer pays the gas. If its transaction is mined first, nobody can execute what was "
            "signed and the sweep becomes void; if the user's is, that one is booked.",
            "form_class": ReasonForm,
            "form_submit_text": "Cancel on chain",
        },
    )
    def cancel_on_chain(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Have the worker cancel the sweep's authorization, for the given reason."""
        reason, user = form.cleaned_data["reason"], request.user.get_username()
        sweep = get_object_or_404(Sweep, id=object_id)
        try:
            is_first = cancel_on_chain(sweep_id=sweep.id, reason=reason, requested_by=user)
        except NotCancellableError:
            messages.error(request, "This sweep was executed or is closed: there is nothing left to cancel.")
        else:
            self.log_change(request, sweep, f"Asked to cancel on chain: {reason}")
            if is_first:
                messages.success(request, "The worker was asked to cancel the sweep on chain.")
            else:
                messages.warning(request, "The worker was asked to cancel this sweep before; it goes on trying.")
        return self._back_to(object_id)

    def _back_to(self, object_id: str) -> HttpResponse:
        """Have the dialog reload the page it was opened on."""
        return HttpResponse(headers={"HX-Redirect": reverse("admin:sweeps_sweep_change", args=[object_id])})
