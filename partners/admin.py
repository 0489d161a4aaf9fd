"""Where operations keep partners, their wallets and their keys. A new key is shown on one page, once."""

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
from sweepapi import chains


class PayoutWalletInline(TabularInline):
    """The wallets of one partner, chain by chain."""

    model = PayoutWallet
    extra = 0
    hide_title = True

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Offer chains by name: those of the service, and those that wallets were given for before."""
        if db_field.name == "chain_id":
            known = {chain.chain_id: chain.name for chain in chains.enabled()}
            used = PayoutWallet.objects.order_by().values_list("chain_id", flat=True).distinct()
            choices = {chain_id: chains.name_of(chain_id) for chain_id in used} | known
            return forms.TypedChoiceField(
                label="Chain", coerce=int, choices=list(choices.items()), widget=UnfoldAdminSelectWidget
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class ApiKeyInline(TabularInline):
    """The keys of one partner, to look at."""

    model = ApiKey
    extra = 0
    hide_title = True
    can_delete = False
    show_change_link = True
    fields = readonly_fields = ["name", "key_id", "created_at", "expires_at", "revoked_at", "last_used_at"]

    def has_add_permission(self, *_args: object) -> bool:
        """Leave issuing to the page that shows the secret."""
        return False


@admin.register(Partner)
class PartnerAdmin(ModelAdmin):
    """Partners, with what they earn and where it is paid to."""

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
        """Show the status as a coloured label."""
        return partner.status


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Keys: issued and revoked here, changed and deleted nowhere."""

    list_display = ["name", "partner", "key_id", "show_state", "created_at", "expires_at", "last_used_at"]
    list_filter = ["partner"]
    list_select_related = ["partner"]
    search_fields = ["name", "key_id", "partner__name"]
    actions = ["revoke_keys"]

    @display(description="State", label={"live": "success", "expired": "warning", "revoked": "danger"})
    def show_state(self, api_key: ApiKey) -> str:
        """Show whether the key is let in."""
        return api_key.state(timezone.now())

    def get_fields(self, _request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        """Ask for three facts when issuing; show all afterwards."""
        asked = ["partner", "name", "expires_at"]
        return [*asked, "key_id", "created_at", "revoked_at", "last_used_at"] if obj else asked

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 Django passes none
    ) -> HttpResponse:
        """Offer one way to save, since the next page has to show the secret."""
        one_way = {"show_save_and_add_another": False, "show_save_and_continue": False}
        response: HttpResponse = super().add_view(request, form_url, one_way)
        return response

    def has_change_permission(self, _request: HttpRequest, _obj: ApiKey | None = None) -> bool:
        """Keep an issued key as it is."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: ApiKey | None = None) -> bool:
        """Keep revoked keys: they say who could do what, and when."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Let those revoke who may change keys at all."""
        return request.user.has_perm("partners.change_apikey")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Give the new key its secret, which lives on this instance until the page is shown and nowhere else."""
        obj.plaintext = obj.take_new_secret()
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: ApiKey, _post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret in the answer to the form itself: no session, message or address ever holds it."""
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
        """Refuse the selected keys from now on."""
        for api_key in api_keys:
            api_key.revoke()
            self.log_change(request, api_key, "Revoked.")
        self.message_user(request, "The selected keys are revoked.")
