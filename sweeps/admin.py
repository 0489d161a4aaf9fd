"""A sweep on one page for operations: what may happen, what was signed, what happened, and the books.

Nothing is edited here. Its actions void a sweep, ask the worker to check the chain now, to check once more at a block
that was final, or to cancel on chain, and note which operator looks after it and has seen its flags.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from unfold.dataclasses import UnfoldAction
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminSelectWidget

from ledger.entries.reading import postings_of
from sweepapi import networks
from sweepapi.admin.explorer import shortened, transaction_link
from sweepapi.admin.network_filter import NetworkFilter
from sweepapi.admin.objects import back_to, object_or_404
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly
from sweepapi.admin.reason import ReasonForm
from sweepapi.errors import SweepNotCancellable, SweepNotVoidable
from sweepapi.token_amounts import whole_tokens
from sweeps.admin_parts import (
    ExecutionInline,
    TokenInline,
    TransactionInline,
    VoidForm,
    emphasised,
    events_table,
    facts_table,
    handlings_table,
    output_amount,
    postings_table,
    story_to_copy,
)
from sweeps.models import BuildStop, Sweep, SweepStatus
from sweeps.queues import QUEUES
from sweeps.rails.registry import RAILS
from sweeps.shown import timeline
from sweeps.shown.plain_story import plain_story
from sweeps.shown.spreadsheet import as_csv
from sweeps.story.handling import acknowledge, take
from sweeps.story.reopening import reopen
from sweeps.story.withdrawal import cancel_on_chain, void
from sweeps.wake import check_now

STATUS_LABELS = {"completed": "success", "pending": "info", "expired": "warning", "failed": "danger", "void": "warning"}


# To which sweeps each action may apply.
APPLIES: Mapping[str, Callable[[Sweep], bool]] = {
    "take": lambda sweep: sweep.is_open or bool(sweep.flags),
    "acknowledge": lambda sweep: bool(sweep.flags),
    "check_now": lambda sweep: sweep.is_open,
    "check_again": lambda sweep: not sweep.is_open and sweep.status == SweepStatus.COMPLETED,
    "void": lambda sweep: sweep.is_open and sweep.status == SweepStatus.PENDING,
    "cancel_on_chain": lambda sweep: sweep.is_open and sweep.status != SweepStatus.COMPLETED,
}


class QueueFilter(admin.SimpleListFilter):
    """What waits for operators, as on the console's home."""

    title = "queue"
    parameter_name = "queue"

    def lookups(self, _request: HttpRequest, _pages: object) -> list[tuple[str, str]]:
        return [(queue.name, queue.title) for queue in QUEUES]

    def queryset(self, _request: HttpRequest, sweeps: QuerySet[Sweep]) -> QuerySet[Sweep]:
        chosen = next((queue for queue in QUEUES if queue.name == self.value()), None)
        return sweeps if chosen is None else sweeps.filter(chosen.condition())


class RailFilter(admin.SimpleListFilter):
    """The rails of this release: to read which the table has takes reading it all."""

    title = "rail"
    parameter_name = "built_by"

    def lookups(self, _request: HttpRequest, _pages: object) -> list[tuple[str, str]]:
        return [(name, name) for name in RAILS]

    def queryset(self, _request: HttpRequest, sweeps: QuerySet[Sweep]) -> QuerySet[Sweep]:
        return sweeps.filter(rail=self.value()) if self.value() in RAILS else sweeps


@admin.register(Sweep)
class SweepAdmin(ReadOnly, AdminPages):
    """Sweeps, newest first."""

    list_display = [
        "created_at",
        "show_status",
        "show_progress",
        "show_amount",
        "show_hash",
        "show_flags",
        "show_operator",
        "partner",
        "show_network",
        "show_wallet",
    ]
    list_display_links = ["created_at"]
    list_filter = [QueueFilter, "status", "is_open", "partner", ("network", NetworkFilter), RailFilter]
    list_select_related = ["partner"]
    search_fields = ["id", "wallet", "client_reference", "transactions__tx_hash"]
    inlines = [TransactionInline, ExecutionInline, TokenInline]
    actions = ["download"]
    actions_detail = ["take", "acknowledge", "check_now", "check_again", "void", "cancel_on_chain"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "show_status",
                    "show_waiting",
                    ("show_flags", "show_network"),
                    "show_handling",
                    ("last_checked_at", "show_planned_check"),
                    ("partner", "client_reference"),
                    "wallet",
                ]
            },
        ),
        ("Timeline", {"fields": ["show_events", "show_story"]}),
        (
            "Terms",
            {
                "fields": [
                    ("created_at", "deadline"),
                    ("output_symbol", "rail"),
                    "output_asset",
                    "show_min_gross",
                    ("slippage_bps", "accepted_impact_bps"),
                    ("show_approvals", "wallet_atomic"),
                    "show_gas",
                    ("total_fee_bps", "partner_share_bps"),
                    "partner_recipient",
                    "protocol_recipient",
                    "settlement",
                ]
            },
        ),
        ("Signed", {"fields": ["show_facts"]}),
        (
            "Checks",
            {
                "fields": [
                    ("check_attempts", "last_error"),
                    ("completed_at", "closed_at"),
                    ("voided_at", "void_reason"),
                    "cancellation_requested_at",
                ]
            },
        ),
        ("Ledger", {"fields": ["show_postings"]}),
    ]
    readonly_fields = [
        "show_status",
        "show_flags",
        "show_waiting",
        "show_handling",
        "show_planned_check",
        "show_network",
        "show_min_gross",
        "show_approvals",
        "show_gas",
        "show_events",
        "show_story",
        "show_facts",
        "show_postings",
    ]

    @display(description="Status", ordering="status", label=STATUS_LABELS)
    def show_status(self, sweep: Sweep) -> str:
        return sweep.status

    @display(description="Open", ordering="is_open")
    def show_progress(self, sweep: Sweep) -> str:
        """Tell what is stuck from what was never sent, and both from what is closed."""
        if not sweep.is_open:
            return "closed"
        sent = [tx.submitted_at for tx in sweep.transactions.all()]
        return f"sent {timesince(max(sent), depth=1)} ago" if sent else "nothing sent"

    @display(description="Amount")
    def show_amount(self, sweep: Sweep) -> str:
        """Show what was executed, or the least that would be."""
        done = [one.gross_output for one in sweep.executions.all() if one.gross_output is not None]
        is_known = bool(done) or sweep.is_adopted
        whole = whole_tokens(sum(done) if is_known else sweep.min_gross, sweep.output_decimals)
        return f"{'' if is_known else 'at least '}{whole} {sweep.output_symbol}"

    @display(description="Transaction")
    def show_hash(self, sweep: Sweep) -> SafeString | str:
        """Show the newest one, with a link to its explorer."""
        newest = max(sweep.transactions.all(), key=lambda tx: tx.pk, default=None)
        return (
            "" if newest is None else transaction_link(sweep.network, newest.tx_hash, shown=shortened(newest.tx_hash))
        )

    @display(description="Next check")
    def show_planned_check(self, sweep: Sweep) -> str | None:
        planned = sweep.planned_check_at
        return None if planned is None else date_format(planned, "DATETIME_FORMAT")

    @display(description="Flags")
    def show_flags(self, sweep: Sweep) -> str:
        return ", ".join(sweep.flags)

    @display(description="Wallet")
    def show_wallet(self, sweep: Sweep) -> SafeString:
        return shortened(sweep.wallet)

    @display(description="Minimum gross output")
    def show_min_gross(self, sweep: Sweep) -> str:
        return "unknown" if sweep.is_adopted else output_amount(sweep.min_gross, sweep)

    @display(description="Approvals")
    def show_approvals(self, sweep: Sweep) -> str:
        return "unlimited" if sweep.unlimited_approvals else "exact"

    @display(description="Gas")
    def show_gas(self, sweep: Sweep) -> str:
        return "sponsored" if sweep.gas_is_sponsored else "paid by the wallet"

    @display(description="Waits for")
    def show_waiting(self, sweep: Sweep) -> SafeString | str:
        if not sweep.is_open:
            return "Nothing; it is closed."
        return emphasised(timeline.why_it_waits(sweep), *RAILS[sweep.rail].present.obstacles(sweep))

    @display(description="Operator")
    def show_operator(self, sweep: Sweep) -> str:
        """Show who took it last."""
        return next((one.operator for one in sweep.handlings.all() if one.is_taken), "")

    @display(description="Handled")
    def show_handling(self, sweep: Sweep) -> SafeString | str:
        """Show what operators did about it, newest first."""
        return handlings_table(sweep.handlings.all())

    @display(description="Network", ordering="network")
    def show_network(self, sweep: Sweep) -> str:
        return networks.current().name_of(sweep.network)

    @display(description="Events")
    def show_events(self, sweep: Sweep) -> SafeString:
        return events_table(sweep.events.all(), sweep.network)

    @display(description="For the partner")
    def show_story(self, sweep: Sweep) -> SafeString:
        return story_to_copy(plain_story(sweep, networks.current()))

    @display(description="Facts")
    def show_facts(self, sweep: Sweep) -> SafeString:
        return facts_table(RAILS[sweep.rail].present.admin_facts(sweep))

    @display(description="Postings")
    def show_postings(self, sweep: Sweep) -> SafeString:
        return postings_table(postings_of(sweep.id), sweep)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Sweep]:
        """Read what the list shows with few queries."""
        sweeps: QuerySet[Sweep] = super().get_queryset(request)
        return sweeps.select_related("partner").prefetch_related("transactions", "executions", "handlings")

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[UnfoldAction]:
        """Offer what may apply to the sweep as it is; whether it does is decided when it is done."""
        sweep = self.get_object(request, object_id)
        actions: list[UnfoldAction] = super().get_actions_detail(request, object_id)
        return [one for one in actions if sweep is None or APPLIES[one.action_name.rpartition("_sweep_")[2]](sweep)]

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """Show what waits the longest first, and otherwise the newest."""
        return ["created_at"] if request.GET.get(QueueFilter.parameter_name) else ["-id"]

    def has_operate_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Require the permission to change sweeps, which nothing else uses."""
        return request.user.has_perm("sweeps.change_sweep")

    @action(description="Download as CSV", permissions=["view"])
    def download(self, _request: HttpRequest, sweeps: QuerySet[Sweep]) -> StreamingHttpResponse:
        """Return the selected sweeps, or all that the filters leave, as a file."""
        lines = as_csv(sweeps, networks.current())
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = 'attachment; filename="sweeps.csv"'
        return response

    @action(
        description="Take",
        url_path="take",
        permissions=["operate"],
        icon="back_hand",
        dialog={
            "title": "Take this sweep",
            "description": "The lists show that you look after it.",
            "form_class": None,
            "form_submit_text": "Take",
        },
    )
    def take(self, request: HttpRequest, _form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Note that the operator looks after the sweep."""
        sweep = object_or_404(self, request, object_id)
        take(sweep.id, operator=request.user.get_username())
        self.log_change(request, sweep, "Taken.")
        messages.success(request, "You look after this sweep now.")
        return back_to(self, object_id)

    @action(
        description="Acknowledge",
        url_path="acknowledge",
        permissions=["operate"],
        icon="done_all",
        dialog={
            "title": "Acknowledge the flags of this sweep",
            "description": "It leaves the queue, and its alert ends. A flag that is raised later starts both again.",
            "form_class": ReasonForm,
            "form_submit_text": "Acknowledge",
        },
    )
    def acknowledge(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Note that the operator has seen the flags, and what was found."""
        sweep, note = object_or_404(self, request, object_id), form.cleaned_data["reason"]
        acknowledged = acknowledge(sweep.id, operator=request.user.get_username(), note=note)
        self.log_change(request, sweep, f"Acknowledged {', '.join(acknowledged) or 'nothing'}: {note}")
        messages.success(request, f"Acknowledged: {', '.join(acknowledged) or 'nothing, because it has no flags'}.")
        return back_to(self, object_id)

    @action(
        description="Check now",
        url_path="check-now",
        permissions=["operate"],
        icon="refresh",
        dialog={
            "title": "Check the chain now",
            "description": "The worker reads the chain and settles what it finds.",
            "form_class": None,
            "form_submit_text": "Check now",
        },
    )
    def check_now(self, request: HttpRequest, _form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Make the sweep due and wake the worker."""
        sweep = object_or_404(self, request, object_id)
        if check_now(sweep.id):
            self.log_change(request, sweep, "Asked for a check.")
            messages.success(request, "The worker was asked to check the chain.")
        else:
            messages.warning(request, "This sweep is closed, so the worker does not check it.")
        return back_to(self, object_id)

    @action(
        description="Check again",
        url_path="check-again",
        permissions=["operate"],
        icon="history",
        dialog={
            "title": "Open this sweep again",
            "description": "Only for a completed sweep that is closed, if its chain may have reorganised below a final "
            "block. The worker closes it again if the block is still there; otherwise it reverses the booking.",
            "form_class": ReasonForm,
            "form_submit_text": "Check again",
        },
    )
    def check_again(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Open a completed sweep, for the given reason, so that the worker checks its block once more."""
        sweep, reason = object_or_404(self, request, object_id), form.cleaned_data["reason"]
        if reopen(sweep_id=sweep.id, reason=reason, requested_by=request.user.get_username()):
            self.log_change(request, sweep, f"Opened again: {reason}")
            messages.success(request, "The sweep is open again, and the worker was asked to check its block.")
        else:
            messages.warning(request, "Only a completed sweep that is closed can be opened again.")
        return back_to(self, object_id)

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
        sweep_id, user = object_or_404(self, request, object_id).id, request.user.get_username()
        try:
            sweep = void(sweep_id=sweep_id, reason=reason, requested_by=user, cancels=cancels)
        except SweepNotVoidable as error:
            messages.error(request, error.message)
        except SweepNotCancellable as error:
            messages.error(request, f"The sweep was not voided. {error.message}")
        else:
            self.log_change(request, sweep, f"Voided{' and asked to cancel on chain' if cancels else ''}: {reason}")
            messages.success(
                request, "The sweep is void." + (" The worker was asked to cancel it on chain." if cancels else "")
            )
        return back_to(self, object_id)

    @action(
        description="Cancel on chain",
        url_path="cancel-on-chain",
        permissions=["operate"],
        icon="link_off",
        dialog={
            "title": "Cancel this sweep on chain",
            "description": "On V5 only. For any open sweep that was not executed, whatever was submitted for it, until "
            "its deadline. The fee signer pays the gas. If its transaction is mined first, the sweep can't be executed "
            "any more and becomes void; if the user's is, that one is booked.",
            "form_class": ReasonForm,
            "form_submit_text": "Cancel on chain",
        },
    )
    def cancel_on_chain(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Have the worker cancel the sweep's authorization, for the given reason."""
        reason, user = form.cleaned_data["reason"], request.user.get_username()
        sweep = object_or_404(self, request, object_id)
        try:
            is_first = cancel_on_chain(sweep_id=sweep.id, reason=reason, requested_by=user)
        except SweepNotCancellable as error:
            messages.error(request, error.message)
        else:
            self.log_change(request, sweep, f"Asked to cancel on chain: {reason}")
            if is_first:
                messages.success(request, "The worker was asked to cancel the sweep on chain.")
            else:
                messages.warning(request, "The worker was asked to cancel this sweep before; it goes on trying.")
        return back_to(self, object_id)


@admin.register(BuildStop)
class BuildStopAdmin(AdminPages):
    """Stops of builds: a row is added to stop them, and lifted to let them go on."""

    list_display = ["show_scope", "show_state", "reason", "stopped_by", "stopped_at", "lifted_by", "lifted_at"]
    list_display_links = ["show_scope"]
    list_select_related = ["partner"]
    fields = ["network", "partner", "reason"]
    readonly_fields = ["stopped_by", "stopped_at", "lifted_by", "lifted_at"]
    actions_detail = ["lift"]

    def get_fields(self, _request: HttpRequest, obj: BuildStop | None = None) -> list[str]:
        return [*self.fields, *(self.readonly_fields if obj else [])]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401 Django's
        """Offer networks by name."""
        if db_field.name == "network":
            registry = networks.current()
            named = ((network, registry.name_of(network)) for network in registry.enabled_networks)
            choices = [("", "All"), *named]
            return forms.TypedChoiceField(
                choices=choices, required=False, empty_value=None, widget=UnfoldAdminSelectWidget
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_change_permission(self, _request: HttpRequest, _obj: BuildStop | None = None) -> bool:
        return False  # it is lifted, and another one made

    def has_delete_permission(self, _request: HttpRequest, _obj: BuildStop | None = None) -> bool:
        return False  # it stays as a record of what was stopped, and why

    def has_lift_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        return request.user.has_perm("sweeps.change_buildstop")

    def save_model(self, request: HttpRequest, obj: BuildStop, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Say who stopped them."""
        obj.stopped_by = request.user.get_username()
        super().save_model(request, obj, form, change)

    @display(description="Builds", ordering="network")
    def show_scope(self, stop: BuildStop) -> str:
        where = networks.current().name_of(stop.network) if stop.network else "all networks"
        return f"{where}, {stop.partner or 'all partners'}"

    @display(description="State", label={"stopped": "danger", "lifted": "success"})
    def show_state(self, stop: BuildStop) -> str:
        return "stopped" if stop.lifted_at is None else "lifted"

    @action(
        description="Lift",
        url_path="lift",
        permissions=["lift"],
        icon="play_arrow",
        dialog={
            "title": "Let these builds go on",
            "description": "From the next request on, unless another stop covers them.",
            "form_class": ReasonForm,
            "form_submit_text": "Lift the stop",
        },
    )
    def lift(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        """Lift the stop, for the given reason."""
        stop = object_or_404(self, request, object_id)
        if stop.lift(lifted_by=request.user.get_username()):
            self.log_change(request, stop, f"Lifted: {form.cleaned_data['reason']}")
            messages.success(request, "Builds go on.")
        else:
            messages.warning(request, "It was lifted before.")
        return back_to(self, object_id)
