"""The parts of a sweep's admin page: its tokens, executions and transactions, and tables of what is not a relation."""

from collections.abc import Iterable

from django import forms
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from ledger.models import Posting
from sweepapi.read_only import ReadOnly
from sweeps import timeline
from sweeps.models import Execution, SweepEvent, SweepToken, SweepTransaction


class ReasonForm(BaseDialogForm):
    """Why a sweep is withdrawn."""

    reason = forms.CharField(max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


class VoidForm(ReasonForm):
    """Why a sweep is voided, and whether it is cancelled on chain as well."""

    cancel_on_chain = forms.BooleanField(
        required=False,
        label="Also cancel on chain, at once",
        help_text="The fee signer pays the gas. Once that is mined, what was signed can't be executed.",
        widget=UnfoldBooleanSwitchWidget,
    )


class TokenInline(ReadOnly, TabularInline):
    """The tokens that go in."""

    model = SweepToken
    hide_title = True
    fields = readonly_fields = ["symbol", "asset", "amount", "decimals"]


class ExecutionInline(ReadOnly, TabularInline):
    """What may happen on chain."""

    model = Execution
    hide_title = True
    fields = readonly_fields = [
        "status",
        "venue",
        "execution_id",
        "min_gross",
        "gross_output",
        "user_amount",
        "partner_fee",
        "protocol_fee",
        "booking_epoch",
    ]


class TransactionInline(ReadOnly, TabularInline):
    """The transactions that were reported or found."""

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


def facts_table(facts: Iterable[tuple[str, str]]) -> SafeString:
    """Show labels and values."""
    return _table('<tr><th class="pr-6 py-1 text-left font-normal">{}</th><td class="break-all">{}</td></tr>', facts)


def events_table(events: Iterable[SweepEvent]) -> SafeString:
    """Show the story of a sweep, oldest first."""
    rows = (
        (f"{event.at:%Y-%m-%d %H:%M:%S}", event.type, timeline.sentence(event), _details(event)) for event in events
    )
    return _table(
        '<tr><td class="pr-6 py-1 whitespace-nowrap align-top">{}</td>'
        '<td class="pr-6 align-top whitespace-nowrap font-mono">{}</td>'
        '<td class="align-top">{}<div class="break-all opacity-60">{}</div></td></tr>',
        rows,
    )


def _details(event: SweepEvent) -> str:
    facts = [f"{name}: {value}" for name, value in event.facts.items()]
    return ", ".join([event.tx_hash, *facts] if event.tx_hash else facts)


def postings_table(postings: Iterable[Posting]) -> SafeString:
    """Show the postings about a sweep, each with a link to its entry."""
    rows = (
        (
            reverse("admin:ledger_journalentry_change", args=[posting.entry_id]),
            posting.entry.kind,
            posting.account.name,
            posting.direction,
            posting.magnitude,
        )
        for posting in postings
    )
    return _table(
        '<tr><td class="pr-6 py-1"><a class="text-primary-600" href="{}">{}</a></td><td class="pr-6">{}</td>'
        '<td class="pr-6">{}</td><td class="font-mono">{}</td></tr>',
        rows,
    )


def _table(row: str, rows: Iterable[tuple[object, ...]]) -> SafeString:
    body = format_html_join("", row, rows)
    return format_html("<table>{}</table>", body) if body else SafeString("None.")
