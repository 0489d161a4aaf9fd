"""The admin pages of partners, their fee shares, wallets and API keys. A new key is shown on one page, once."""

from importlib import import_module
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import Lead
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from partners.models import DEFAULT_OVERLAP, SCOPES, ApiKey, FeeShare, Partner, PayoutWallet
from sweepapi import networks
from sweepapi.admin.objects import back_to, object_or_404
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.reason import ReasonForm


class FeeShareInline(TabularInline):
    """The history of a partner's share, newest first. Rows are added, and never changed or deleted."""

    model = FeeShare
    extra = 0
    min_num = 1  # a partner is added with its first share
    hide_title = True
    can_delete = False
    readonly_fields = ["show_state", "show_recorded_at"]

    def get_fields(self, _request: HttpRequest, obj: Partner | None = None) -> list[str]:
        """Ask for a time only if there is a share already: the first one is effective at once."""
        return ["share_bps", "effective_from", "show_state", "show_recorded_at"] if obj else ["share_bps"]

    def get_formset(self, request: HttpRequest, obj: Partner | None = None, **kwargs: Any) -> Any:  # noqa: ANN401 Django's signature
        """Require a share of every partner, and only one of a new partner."""
        return super().get_formset(request, obj, validate_min=True, max_num=None if obj else 1, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[FeeShare]:
        """Add the time of the next row, which ends a share."""
        following = Window(Lead("effective_from"), partition_by="partner", order_by=["effective_from", "id"])
        shares: QuerySet[FeeShare] = super().get_queryset(request)
        return shares.annotate(effective_until=following)

    def has_add_permission(self, request: HttpRequest, obj: Partner | None = None) -> bool:
        """Let users who may add partners enter their first share."""
        return obj is None or super().has_add_permission(request, obj)

    def has_change_permission(self, _request: HttpRequest, _obj: Partner | None = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Partner | None = None) -> bool:
        return False

    @display(description="State")
    def show_state(self, share: Any) -> SafeString | str | None:  # noqa: ANN401 a share annotated with its end
        """Say which row counts now; None in the form of a new one."""
        if share.pk is None:
            return None
        if share.effective_until == share.effective_from:
            return "replaced"
        now = timezone.now()
        if share.effective_from > now:
            return "scheduled"
        is_current = share.effective_until is None or share.effective_until > now
        return SafeString("<strong>current</strong>") if is_current else "past"

    @display(description="Recorded at")
    def show_recorded_at(self, share: FeeShare) -> str | None:
        return None if share.pk is None else f"{share.created_at:%Y-%m-%d %H:%M:%S} UTC"


class PayoutWalletInline(TabularInline):
    model = PayoutWallet
    extra = 0
    hide_title = True

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Offer networks by name: the enabled ones, and those that already have a wallet."""
        if db_field.name == "network":
            registry = networks.current()
            used = PayoutWallet.objects.order_by().values_list("network", flat=True).distinct()
            choices = {network: registry.name_of(network) for network in [*used, *registry.enabled_networks]}
            return forms.ChoiceField(choices=list(choices.items()), widget=UnfoldAdminSelectWidget)
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class ApiKeyInline(TabularInline):
    """The keys of one partner, read-only."""

    model = ApiKey
    extra = 0
    hide_title = True
    can_delete = False
    show_change_link = True
    fields = readonly_fields = ["name", "mode", "key_id", "created_at", "expires_at", "revoked_at", "last_used_at"]

    def has_add_permission(self, *_args: object) -> bool:
        return False  # keys are issued on the page that shows the secret


@admin.register(Partner)
class PartnerAdmin(AdminPages):
    list_display = ["name", "show_status", "show_share", "payout_wallet", "created_at"]
    list_filter = ["status"]
    search_fields = ["name", "id", "payout_wallet"]
    readonly_fields = ["status", "id", "onchain_id", "created_at", "updated_at", "show_former_wallets"]
    fieldsets = [
        (None, {"fields": ["name", "status", "payout_wallet", "show_former_wallets", "rate_limits"]}),
        ("Identity", {"fields": ["id", "onchain_id", "created_at", "updated_at"]}),
    ]
    inlines = [FeeShareInline, PayoutWalletInline, ApiKeyInline]
    actions_detail = ["suspend", "reactivate"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Partner]:
        """Read the current share in the same query."""
        shares = FeeShare.objects.filter(partner=OuterRef("pk"), effective_from__lte=timezone.now())
        partners: QuerySet[Partner] = super().get_queryset(request)
        return partners.annotate(current_share_bps=Subquery(shares.values("share_bps")[:1]))

    def has_delete_permission(self, _request: HttpRequest, _obj: Partner | None = None) -> bool:
        return False  # its fee shares remain, and so does what refers to it

    def has_suspend_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        return request.user.has_perm("partners.suspend_partner")

    @action(
        description="Suspend",
        url_path="suspend",
        permissions=["suspend"],
        icon="block",
        dialog={
            "title": "Suspend this partner",
            "description": "From now on all its keys are refused. What its users signed before can still be executed.",
            "form_class": ReasonForm,
            "form_submit_text": "Suspend",
        },
    )
    def suspend(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        return self._become(Partner.Status.SUSPENDED, request, form, object_id)

    @action(
        description="Reactivate",
        url_path="reactivate",
        permissions=["suspend"],
        icon="play_arrow",
        dialog={
            "title": "Reactivate this partner",
            "description": "From now on its keys are accepted again.",
            "form_class": ReasonForm,
            "form_submit_text": "Reactivate",
        },
    )
    def reactivate(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        return self._become(Partner.Status.ACTIVE, request, form, object_id)

    def _become(self, status: str, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        partner = object_or_404(self, request, object_id)
        if partner.become(status):
            self.log_change(request, partner, f"Now {status}: {form.cleaned_data['reason']}")
            messages.success(request, f"The partner is {status}.")
        else:
            messages.warning(request, f"The partner was {status} already.")
        return back_to(self, object_id)

    @display(description="Status", ordering="status", label={"active": "success", "suspended": "danger"})
    def show_status(self, partner: Partner) -> str:
        return partner.status

    @display(description="Share (bps)", ordering="current_share_bps")
    def show_share(self, partner: Any) -> object:  # noqa: ANN401 a partner annotated with its share
        return partner.current_share_bps

    @display(description="Former wallets")
    def show_former_wallets(self, partner: Partner) -> SafeString | None:
        """Show which wallets a payout may have gone to before they were replaced; None in the form of a new partner."""
        if partner.created_at is None:
            return None
        registry = networks.current()
        rows = [
            (wallet, "the default" if wallet.network is None else f"on {registry.name_of(wallet.network)}")
            for wallet in partner.former_wallets.all()
        ]
        return format_html_join("", "<p>{} ({})</p>", rows)


@admin.register(ApiKey)
class ApiKeyAdmin(AdminPages):
    """Issues, rotates and revokes keys. They cannot be edited or deleted."""

    list_display = ["name", "partner", "mode", "key_id", "show_state", "created_at", "expires_at", "last_used_at"]
    list_filter = ["partner", "mode"]
    list_select_related = ["partner"]
    search_fields = ["name", "key_id", "partner__name"]
    actions = ["rotate_key"]
    actions_detail = ["revoke"]

    @display(description="State", label={"live": "success", "expired": "warning", "revoked": "danger"})
    def show_state(self, api_key: ApiKey) -> str:
        return api_key.state(timezone.now())

    def get_fields(self, _request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        editable = ["partner", "name", "mode", "scopes", "allowed_ips", "expires_at"]
        recorded = ["key_id", "created_at", "revoked_at", "last_used_at", "replaced_by"]
        return [*editable, *recorded] if obj else editable

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """Offer the scopes as boxes, all of them checked."""
        if db_field.name == "scopes":
            choices = [(scope, scope) for scope in SCOPES]
            widget = UnfoldAdminCheckboxSelectMultipleWidget
            return forms.MultipleChoiceField(
                choices=choices, initial=SCOPES, widget=widget, help_text=db_field.help_text
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

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

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        """Require what a new key and the end of the old one need."""
        return self.has_add_permission(request) and self.has_revoke_permission(request)

    def has_revoke_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Require the permission to change keys, which nothing else uses."""
        return request.user.has_perm("partners.change_apikey")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Generate the secret, which is kept on this instance only, until the page is rendered."""
        obj.plaintext = obj.generate_secret()
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: ApiKey, _post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret in the response to the form itself, so that no session, message or URL contains it."""
        return self._shown_once(request, obj)

    def _shown_once(self, request: HttpRequest, obj: ApiKey) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "API key issued",
            "opts": self.opts,
            "api_key": obj,
        }
        response = TemplateResponse(request, "admin/partners/apikey/issued.html", context)
        add_never_cache_headers(response)
        return response

    @admin.action(description="Rotate the selected key (the old one works for 24 hours)", permissions=["rotate"])
    def rotate_key(self, request: HttpRequest, api_keys: QuerySet[ApiKey]) -> HttpResponse | None:
        """Show the successor's secret in the response to the action; loading it again does not rotate again."""
        try:
            old = api_keys.get()
            successor, plaintext = old.rotate(overlap=DEFAULT_OVERLAP)
        except ApiKey.MultipleObjectsReturned:
            self.message_user(request, "Select a single key: each new secret is shown on a page.", messages.ERROR)
            return None
        except ValueError as error:
            self.message_user(request, str(error), messages.ERROR)
            return None
        self.log_change(request, old, f"Replaced by {successor.key_id}.")
        successor.plaintext = plaintext
        return self._shown_once(request, successor)

    @action(
        description="Revoke",
        url_path="revoke",
        permissions=["revoke"],
        icon="key_off",
        dialog={
            "title": "Revoke this key",
            "description": "From now on it is refused, and that can't be undone.",
            "form_class": ReasonForm,
            "form_submit_text": "Revoke",
        },
    )
    def revoke(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Revoke the key at once, for the given reason."""
        api_key = object_or_404(self, request, object_id)
        if api_key.revoked_at is None:
            api_key.revoke()
            self.log_change(request, api_key, f"Revoked: {form.cleaned_data['reason']}")
            messages.success(request, "The key is revoked.")
        else:
            messages.warning(request, "The key was revoked before.")
        return back_to(self, object_id)


import_module("partners.webhooks.admin")  # which registers its pages; Django finds only this module
