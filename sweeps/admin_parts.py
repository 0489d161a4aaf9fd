"""The parts of a sweep's admin page: its tokens, executions and transactions, and tables of what is not a relation."""

from collections.abc import Iterable, Iterator

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldBooleanSwitchWidget

from ledger.models import Posting
from sweepapi.admin.explorer import transaction_link
from sweepapi.admin.read_only import ReadOnly
from sweepapi.admin.reason import ReasonForm
from sweepapi.token_amounts import token_amount
from sweeps.models import Execution, Handling, Sweep, SweepEvent, SweepToken, SweepTransaction
from sweeps.shown import parts, timeline


class VoidForm(ReasonForm):
    """Why a sweep is voided, and whether it is cancelled on chain as well."""

    cancel_on_chain = forms.BooleanField(
        required=False,
        label="Also cancel on chain, at once",
        help_text="On V5 only. The fee signer pays the gas. Once that is mined, what was signed can't be executed.",
        widget=UnfoldBooleanSwitchWidget,
    )


class TransactionInline(ReadOnly, TabularInline):
    """The transactions that were reported or found."""

    model = SweepTransaction
    hide_title = True
    fields = readonly_fields = [
        "show_hash",
        "show_execution",
        "status",
        "source",
        "block_number",
        "show_confirmations",
        "finality",
        "gas_used",
        "submitted_at",
        "reason",
    ]

    @display(description="Hash")
    def show_hash(self, tx: SweepTransaction) -> SafeString:
        return transaction_link(tx.execution.network, tx.tx_hash)

    @display(description="Confirmations")
    def show_confirmations(self, tx: SweepTransaction) -> int:
        block = tx.sweep.watched_block
        return parts.confirmations(vars(tx), None if block is None else block.head_number)

    @display(description="Execution")
    def show_execution(self, tx: SweepTransaction) -> str:
        return numbered(tx.execution)

    def get_queryset(self, _request: HttpRequest) -> QuerySet[SweepTransaction]:
        return SweepTransaction.objects.select_related("execution", "sweep__watched_block")


class ExecutionInline(ReadOnly, TabularInline):
    """What may happen on chain."""

    model = Execution
    hide_title = True
    fields = readonly_fields = [
        "show_number",
        "status",
        "venue",
        "execution_id",
        "booking_epoch",
        "show_cancellation",
        "show_amounts",
    ]

    @display(description="Number")
    def show_number(self, execution: Execution) -> str:
        return numbered(execution)

    @display(description="Cancelled by")
    def show_cancellation(self, execution: Execution) -> str:
        tx_hash = execution.cancellation_tx_hash
        return "" if tx_hash is None else transaction_link(execution.network, tx_hash)

    @display(description="Amounts")
    def show_amounts(self, execution: Execution) -> SafeString:
        units = {} if execution.sweep.is_adopted else {"Minimum gross output": execution.min_gross}
        if execution.status == Execution.Status.EXECUTED:
            done = execution.amounts
            units |= {"Gross output": done.gross_output, "User": done.user_amount}
            units |= {"Partner fee": done.partner_fee, "Protocol fee": done.protocol_fee}
        return facts_table((label, output_amount(number, execution.sweep)) for label, number in units.items())


class TokenInline(ReadOnly, TabularInline):
    """The tokens that go in."""

    model = SweepToken
    hide_title = True
    fields = readonly_fields = ["symbol", "asset", "show_execution", "show_amount", "show_outcome"]

    @display(description="Execution")
    def show_execution(self, token: SweepToken) -> str:
        return numbered(token.execution)

    @display(description="Amount")
    def show_amount(self, token: SweepToken) -> str:
        return token_amount(token.amount, token.decimals, token.symbol)

    @display(description="Outcome")
    def show_outcome(self, token: SweepToken) -> str:
        for skipped in token.skipped.all():
            if skipped.booking_epoch == token.execution.booking_epoch:
                return f"Left out: {skipped.get_reason_display()}"
        return "Swept" if token.execution.status == Execution.Status.EXECUTED else "None yet"

    def get_queryset(self, _request: HttpRequest) -> QuerySet[SweepToken]:
        return SweepToken.objects.select_related("execution").prefetch_related("skipped")


def numbered(execution: Execution) -> str:
    """Name one of a sweep's executions, counted from 1."""
    return f"No. {execution.position + 1}"


def emphasised(*sentences: str) -> SafeString:
    """Show what operations look for first."""
    return format_html("<strong>{}</strong>", " ".join(sentences))


def output_amount(units: int, sweep: Sweep) -> str:
    """Show an amount of the sweep's output token, in its smallest unit and in whole tokens."""
    return token_amount(units, sweep.output_decimals, sweep.output_symbol)


def facts_table(facts: Iterable[tuple[str, str]]) -> SafeString:
    """Show labels and values."""
    rows = format_html_join("", '<tr><th scope="row">{}</th><td>{}</td></tr>', facts)
    return format_html('<table class="facts">{}</table>', rows) if rows else SafeString("None.")


def events_table(events: Iterable[SweepEvent], network: str) -> SafeString:
    """Show the story of a sweep, oldest first."""
    rows = format_html_join(
        "",
        '<tr><td><time datetime="{}">{}</time></td><th scope="row">{}</th><td>{}{}</td></tr>',
        (
            (event.at.isoformat(), f"{event.at:%Y-%m-%d %H:%M:%S}", event.type, timeline.sentence(event), details)
            for event in events
            for details in [format_html_join("", "<p>{}</p>", _details(event, network))]
        ),
    )
    return _with_heads("timeline", ["Time (UTC)", "Event", "What happened"], rows)


def _details(event: SweepEvent, network: str) -> Iterator[tuple[str]]:
    for name, value in timeline.further_facts(event).items():
        shown = _entry_link(value, value) if name == "entry" else value
        yield (format_html("{}: {}", name.replace("_", " ").capitalize(), shown),)
    if event.tx_hash:
        yield (transaction_link(network, event.tx_hash),)


def handlings_table(handlings: Iterable[Handling]) -> SafeString | str:
    """Show what operators did about a sweep, newest first."""
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        (
            (
                f"{one.at:%Y-%m-%d %H:%M:%S}",
                one.operator,
                "took it" if one.is_taken else f"acknowledged {', '.join(one.flags) or 'nothing'}",
                one.note,
            )
            for one in handlings
        ),
    )
    return _with_heads("handlings", ["Time (UTC)", "Operator", "Did", "Note"], rows) if rows else "By no one yet."


def story_to_copy(text: str) -> SafeString:
    """Show a text that a button copies."""
    return format_html(
        '<details class="story"><summary>The story as text</summary><pre id="story">{}</pre></details>'
        '<button type="button" class="copies" data-copies="story">Copy for the partner</button>',
        text,
    )


def postings_table(postings: Iterable[Posting], sweep: Sweep) -> SafeString:
    """Show the postings about a sweep, each with a link to its entry."""
    rows = format_html_join(
        "",
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        (
            (
                _entry_link(posting.entry_id, posting.entry.kind),
                posting.account.name,
                posting.direction,
                output_amount(posting.magnitude, sweep),
            )
            for posting in postings
        ),
    )
    return _with_heads("postings", ["Entry", "Account", "Direction", "Amount"], rows)


def _entry_link(entry_id: object, text: object) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("admin:ledger_journalentry_change", args=[entry_id]), text)


def _with_heads(css_class: str, heads: Iterable[str], rows: SafeString) -> SafeString:
    if not rows:
        return SafeString("None.")
    cells = format_html_join("", '<th scope="col">{}</th>', ((head,) for head in heads))
    template = '<table class="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
    return format_html(template, css_class, cells, rows)
