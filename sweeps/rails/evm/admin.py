"""The events of our contracts that match nothing that we offered, for operators to explain."""

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from sweepapi import networks
from sweepapi.admin.explorer import shortened, transaction_link
from sweepapi.admin.network_filter import NetworkFilter
from sweepapi.admin.objects import back_to, object_or_404
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly
from sweepapi.admin.reason import ReasonForm
from sweeps.admin_parts import facts_table
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile.unmatched import explain


@admin.register(UnmatchedEvent)
class UnmatchedEventAdmin(ReadOnly, AdminPages):
    """Newest first; only the explanation can be written, and once."""

    list_display = ["found_at", "show_status", "show_network", "name", "show_short_hash", "reason"]
    list_filter = ["status", ("network", NetworkFilter), "name"]
    search_fields = ["tx_hash", "execution_id", "sweep__id"]
    actions_detail = ["explain"]
    fieldsets = [
        (None, {"fields": ["show_status", "reason", "show_sweep", "found_at"]}),
        (
            "On chain",
            {"fields": ["show_network", "contract", "name", "execution_id", "show_hash", "show_block", "show_facts"]},
        ),
        ("Explanation", {"fields": ["explanation", "explained_by", "explained_at"]}),
    ]
    readonly_fields = ["show_status", "show_network", "show_sweep", "show_hash", "show_block", "show_facts"]

    @display(description="Status", ordering="status", label={"open": "danger", "explained": "success"})
    def show_status(self, event: UnmatchedEvent) -> str:
        return event.status

    @display(description="Network", ordering="network")
    def show_network(self, event: UnmatchedEvent) -> str:
        return networks.current().name_of(event.network)

    @display(description="Sweep")
    def show_sweep(self, event: UnmatchedEvent) -> SafeString | str:
        if event.sweep_id is None:
            return "None of ours."
        page = reverse("admin:sweeps_sweep_change", args=[event.sweep_id])
        return format_html('<a href="{}">{}</a>', page, event.sweep_id)

    @display(description="Transaction")
    def show_short_hash(self, event: UnmatchedEvent) -> SafeString:
        return transaction_link(event.network, event.tx_hash, shown=shortened(event.tx_hash))

    @display(description="Transaction")
    def show_hash(self, event: UnmatchedEvent) -> SafeString:
        return transaction_link(event.network, event.tx_hash)

    @display(description="Block")
    def show_block(self, event: UnmatchedEvent) -> str:
        return f"{event.block_number}, {event.block_hash}, log {event.log_position} of the contract in the transaction"

    @display(description="Values")
    def show_facts(self, event: UnmatchedEvent) -> SafeString:
        return facts_table((name.replace("_", " ").capitalize(), value) for name, value in sorted(event.facts.items()))

    def has_operate_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Require the permission to change these events, which nothing else uses."""
        return request.user.has_perm("evm.change_unmatchedevent")

    @action(
        description="Explain",
        url_path="explain",
        permissions=["operate"],
        icon="edit_note",
        dialog={
            "title": "Explain this event",
            "description": "Say why it happened and what was done about it. That can't be changed later.",
            "form_class": ReasonForm,
            "form_submit_text": "Explain",
        },
    )
    def explain(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Store the explanation."""
        event, reason = object_or_404(self, request, object_id), form.cleaned_data["reason"]
        if explain(event_id=event.pk, explanation=reason, explained_by=request.user.get_username()):
            self.log_change(request, event, f"Explained: {reason}")
            messages.success(request, "The event is explained.")
        else:
            messages.warning(request, "This event was explained before.")
        return back_to(self, object_id)
