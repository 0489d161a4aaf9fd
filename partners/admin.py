"""The admin pages of partners, their wallets and their API keys. A new key is shown on one page, once."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from partners.models import ApiKey, Partner, PayoutWallet
from sweepapi import networks


class PayoutWalletInline(TabularInline):
    model = PayoutWallet
    extra = 0
    hide_title = True

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Offer networks by name: the enabled ones, and those that already have a wallet."""
        if db_field.name == "network":
            registry = networks.current()
            enabled = {chain.network: chain.name for chain in registry.enabled}
            used = PayoutWallet.objects.order_by().values_list("network", flat=True).distinct()
            choices = {network: registry.name_of(network) for network in used} | enabled
            return forms.ChoiceField(choices=list(choices.items()), widget=UnfoldAdminSelectWidget)
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class ApiKeyInline(TabularInline):
    """The keys of one partner, read-only."""

    model = ApiKey
    extra = 0
    hide_title = True
    can_delete = False
    show_change_link = True
    fields = readonly_fields = ["name", "key_id", "created_at", "expires_at", "revoked_at", "last_used_at"]

    def has_add_permission(self, *_args: object) -> bool:
        return False  # keys are issued on the page that shows the secret


@admin.register(Partner)
class PartnerAdmin(ModelAdmin):
    list_display = ["name", "show_status", "fee_share_bps", "payout_wallet", "created_at"]
    list_filter = ["status"]
    search_fields = ["name", "id", "payout_wallet"]
    readonly_fields = ["id", "onchain_id", "created_at", "updated_at"]
    fieldsets = [
        (None, {"fields": ["name", "status", "fee_share_bps", "payout_wallet"]}),
        ("Identity", {"fields": ["id", "onchain_id", "created_at", "updated_at"]}),
    ]
    inlines = [PayoutWalletInline, ApiKeyInline]

    @display(description="Status", ordering="status", label={"active": "success", "suspended": "danger"})
    def show_status(self, partner: Partner) -> str:
        return partner.status


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Issues and revokes keys. They cannot be edited or deleted."""

    list_display = ["name", "partner", "key_id", "show_state", "created_at", "expires_at", "last_used_at"]
    list_filter = ["partner"]
    list_select_related = ["partner"]
    search_fields = ["name", "key_id", "partner__name"]
    actions = ["revoke_keys"]

    @display(description="State", label={"live": "success", "expired": "warning", "revoked": "danger"})
    def show_state(self, api_key: ApiKey) -> str:
        return api_key.state(timezone.now())

    def get_fields(self, _request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        editable = ["partner", "name", "expires_at"]
        return [*editable, "key_id", "created_at", "revoked_at", "last_used_at"] if obj else editable

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 Django passes none
    ) -> HttpResponse:
        """Offer only "Save", since the next page has to be the one with the secret."""
        save_only = {"show_save_and_add_another": False, "show_save_and_continue": False}
        response: HttpResponse = super().add_view(request, form_url, save_only)
        return response

    def has_change_permission(self, _request: HttpRequest, _obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: ApiKey | None = None) -> bool:
        return False  # a revoked key remains as a record of who had access, and when

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Require the permission to change keys, which nothing else uses."""
        return request.user.has_perm("partners.change_apikey")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Generate the secret, which is kept on this instance only, until the page is rendered."""
        obj.plaintext = obj.generate_secret()
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: ApiKey, _post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret in the response to the form itself, so that no session, message or URL contains it."""
        context = {
            **self.admin_site.each_context(request),
            "title": "API key issued",
            "opts": self.opts,
            "api_key": obj,
        }
        response = TemplateResponse(request, "admin/partners/apikey/issued.html", context)
        add_never_cache_headers(response)
        return response

    @admin.action(description="Revoke selected keys", permissions=["revoke"])
    def revoke_keys(self, request: HttpRequest, api_keys: QuerySet[ApiKey]) -> None:
        for api_key in api_keys:
            api_key.revoke()
            self.log_change(request, api_key, "Revoked.")
        self.message_user(request, "The selected keys have been revoked.")
