"""The admin pages of webhooks: endpoints with what becomes of their deliveries, to read, enable and replay."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from partners.webhooks import endpoints
from partners.webhooks.endpoints import KEPT, Owner
from partners.webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from sweepapi.admin.objects import back_to, object_or_404
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly
from sweepapi.modes import Mode

MAX_HOURS = int(KEPT.total_seconds()) // 3600


class ReplayForm(BaseDialogForm):
    hours = forms.IntegerField(
        min_value=1,
        max_value=MAX_HOURS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=f"Messages of the last hours, at most {MAX_HOURS}, are sent again with their ids.",
    )


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnly, AdminPages):
    """Partners manage their endpoints by the API; operators see them, enable them and replay messages."""

    list_display = ["url", "partner", "mode", "show_state", "failures", "created_at"]
    list_filter = ["mode", "is_enabled", "partner"]
    list_select_related = ["partner"]
    search_fields = ["id", "url", "partner__name"]
    actions_detail = ["enable", "replay"]
    fields = readonly_fields = [
        *("partner", "mode", "url", "description", "show_types", "timing", "payload", "show_state"),
        *("disabled_reason", "failures", "failing_since", "paused_until", "created_at", "deleted_at"),
        *("former_secret_until", "show_deliveries"),
    ]

    @display(
        description="State",
        label={"enabled": "success", "paused": "warning", "disabled": "danger", "deleted": "info"},
    )
    def show_state(self, endpoint: WebhookEndpoint) -> str:
        if endpoint.deleted_at is not None:
            return "deleted"
        if not endpoint.is_enabled:
            return "disabled"
        return "enabled" if endpoint.paused_until is None else "paused"

    @display(description="Types")
    def show_types(self, endpoint: WebhookEndpoint) -> str:
        return ", ".join(endpoint.types) or "all"

    @display(description="Deliveries")
    def show_deliveries(self, endpoint: WebhookEndpoint) -> SafeString:
        url = reverse("admin:partners_webhookdelivery_changelist")
        return format_html('<a href="{}?endpoint__id__exact={}">Show</a>', url, endpoint.id)

    def has_operate_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Require the permission to change endpoints, which nothing else uses."""
        return request.user.has_perm("partners.change_webhookendpoint")

    @action(
        description="Enable",
        url_path="enable",
        permissions=["operate"],
        icon="play_arrow",
        dialog={
            "title": "Enable this endpoint",
            "description": "Its failures are forgotten, and what waits for it is sent.",
            "form_class": None,
            "form_submit_text": "Enable",
        },
    )
    def enable(self, request: HttpRequest, _form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Enable the endpoint, or end its pause."""
        endpoint = object_or_404(self, request, object_id)
        if endpoint.deleted_at is not None:
            messages.error(request, "The partner deleted this endpoint.")
        else:
            endpoints.enable(_owner_of(endpoint), endpoint.id)
            self.log_change(request, endpoint, "Enabled.")
            messages.success(request, "The endpoint is enabled.")
        return back_to(self, object_id)

    @action(
        description="Replay",
        url_path="replay",
        permissions=["operate"],
        icon="replay",
        dialog={
            "title": "Send messages again",
            "description": "All that the endpoint chose, also what it has received already.",
            "form_class": ReplayForm,
            "form_submit_text": "Replay",
        },
    )
    def replay(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Schedule the messages of the last hours for the endpoint."""
        endpoint, hours = object_or_404(self, request, object_id), form.cleaned_data["hours"]
        if endpoint.deleted_at is not None:
            messages.error(request, "The partner deleted this endpoint.")
            return back_to(self, object_id)
        since = timezone.now() - timedelta(hours=hours)
        replayed = endpoints.replay(_owner_of(endpoint), endpoint.id, since=since)
        self.log_change(request, endpoint, f"Replayed {replayed.scheduled} messages of the last {hours} hours.")
        if replayed.next_message_id is None:
            messages.success(request, f"{replayed.scheduled} messages will be sent.")
        else:
            messages.warning(request, f"The oldest {replayed.scheduled} messages will be sent; there are more.")
        return back_to(self, object_id)


class AttemptInline(ReadOnly, TabularInline):
    """The attempts of one delivery."""

    model = WebhookAttempt
    hide_title = True
    fields = readonly_fields = ["number", "at", "duration_ms", "http_status", "error"]


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnly, AdminPages):
    list_display = ["created_at", "show_type", "endpoint", "show_status", "attempts", "next_attempt_at"]
    list_filter = ["status", "message__type", ("endpoint", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["message", "endpoint"]
    search_fields = ["message__id", "message__sweep_ref"]
    inlines = [AttemptInline]
    fields = readonly_fields = [
        *("show_type", "show_message", "show_sweep", "endpoint", "show_status", "attempts"),
        *("created_at", "next_attempt_at", "completed_at"),
    ]

    @display(description="Status", label={"pending": "info", "delivered": "success", "failed": "danger"})
    def show_status(self, delivery: WebhookDelivery) -> str:
        return delivery.status

    @display(description="Type", ordering="message__type")
    def show_type(self, delivery: WebhookDelivery) -> str:
        return delivery.message.type

    @display(description="Message id")
    def show_message(self, delivery: WebhookDelivery) -> str:
        return str(delivery.message_id)

    @display(description="Sweep")
    def show_sweep(self, delivery: WebhookDelivery) -> Any:  # noqa: ANN401 a UUID, or None if it is about no sweep
        return delivery.message.sweep_ref


def _owner_of(endpoint: WebhookEndpoint) -> Owner:
    return Owner(endpoint.partner_id, Mode(endpoint.mode))
