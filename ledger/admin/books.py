"""What each partner is owed and what can be paid out, and the page that records a payout."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from ledger.admin.forms import PayoutForm
from ledger.admin.permissions import PayoutActions
from ledger.admin.statements import StatementPages, statement_links
from ledger.assets import KnownAssets
from ledger.balances import Balance, accounts_in_debt, balances_of
from ledger.errors import PayoutRefusedError
from ledger.models import PartnerBooks
from ledger.payouts import CheckedPayout, check_payout, record_payout, transfer_of
from sweepapi import networks
from sweepapi.admin.explorer import transaction_link
from sweepapi.admin.objects import object_or_404
from sweepapi.admin.read_only import ReadOnly

_HEADS = ("Network", "Asset", "Owed", "Available", "Debt")


@admin.register(PartnerBooks)
class PartnerBooksAdmin(ReadOnly, PayoutActions, StatementPages):
    list_display = ["name", "show_debt"]
    search_fields = ["name", "id"]
    fields = readonly_fields = ["name", "show_balances", "show_payouts", "show_statements"]
    actions_detail = ["record_payout"]

    def get_queryset(self, _request: HttpRequest) -> QuerySet[PartnerBooks]:
        """Say in the same query who is in debt."""
        return PartnerBooks.objects.annotate(is_in_debt=Exists(accounts_in_debt().filter(partner=OuterRef("pk"))))

    @display(description="Debt", label={"in debt": "danger"})
    def show_debt(self, books: Any) -> str:  # noqa: ANN401 a partner annotated with whether it is in debt
        return "in debt" if books.is_in_debt else ""

    @display(description="Balances")
    def show_balances(self, books: PartnerBooks) -> SafeString:
        return _balances_table(balances_of(books))

    @display(description="Payouts")
    def show_payouts(self, books: PartnerBooks) -> SafeString:
        url = f"{reverse('admin:ledger_payout_changelist')}?entry__partner__id__exact={books.pk}"
        return format_html('<a href="{}">Payouts to {}</a>', url, books)

    @display(description="Statements")
    def show_statements(self, books: PartnerBooks) -> SafeString:
        return statement_links(books)

    @action(description="Record a payout", url_path="record-payout", permissions=["record"], icon="payments")
    def record_payout(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask what was paid, check it, show that, and record it once the operator has confirmed."""
        partner = object_or_404(self, request, object_id)
        prefetch_related_objects([partner], "payout_wallets")
        balances = balances_of(partner)
        assets = KnownAssets.of(balances)
        form = PayoutForm(request.POST or None, balances, assets)
        context = {
            "title": f"Record a payout to {partner}",
            "partner": partner,
            "wallets": list(_wallets(partner, balances)),
            "form": form,
        }
        if not form.is_valid():
            return self._page(request, "record_payout", context)
        given = form.cleaned_data
        network, _, asset = given["asset"].partition("/")
        try:
            transfer = transfer_of(
                partner=partner, network=network, asset=asset, amount=given["amount"], tx_hash=given["tx_hash"]
            )
            checked = check_payout(networks.current(), transfer)
            if request.POST.get("confirm") != _confirmed(checked):
                if "confirm" in request.POST:
                    messages.warning(request, "What was checked has changed since you looked at it; look again.")
                context |= {"facts": _facts(checked, assets), "confirmed": _confirmed(checked)}
                return self._page(request, "confirm_payout", context)
            entry = record_payout(checked, note=given["note"], recorded_by=request.user.get_username())
        except PayoutRefusedError as error:
            form.add_error(None, f"{error} ({error.problem})")  # the runbook has a row for each code
            return self._page(request, "record_payout", context)
        self.log_change(request, partner, f"Recorded a payout of {given['amount']} units of {asset}: {entry.pk}")
        messages.success(request, "The payout was recorded.")
        return redirect("admin:ledger_partnerbooks_change", partner.pk)

    def _page(self, request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        site = self.admin_site.each_context(request)
        return TemplateResponse(request, f"admin/ledger/{name}.html", {**site, "opts": self.opts, **context})


def _confirmed(checked: CheckedPayout) -> str:
    """Return what the confirmation carries of what was checked, so that nothing else is recorded than was seen."""
    return f"{checked.transfer.recipient} {'unchecked' if checked.payment is None else 'checked'}"


def _wallets(partner: PartnerBooks, balances: list[Balance]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield each network on which something can be paid, with the partner's wallet and those that may pay it."""
    registry = networks.current()
    for network in dict.fromkeys(balance.network for balance in balances):
        wallet = partner.recipient_on(network) or "none: add one first"
        yield registry.name_of(network), wallet, registry.payout_senders(network)


def _balances_table(balances: list[Balance]) -> SafeString:
    if not balances:
        return SafeString("Nothing was ever owed; what sweeps settle on chain is not listed here.")
    assets = KnownAssets.of(balances)
    heads = format_html_join("", '<th scope="col">{}</th>', ((head,) for head in _HEADS))
    rows = format_html_join("", "<tr>{}</tr>", ((_cells(balance, assets),) for balance in balances))
    template = '<table class="balances"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
    return format_html(template, heads, rows)


def _cells(balance: Balance, assets: KnownAssets) -> SafeString:
    owed, available, debt = (assets.amount(balance, units) for units in (balance.owed, balance.available, balance.debt))
    marked = format_html("<strong>{}</strong>", debt) if balance.debt else ""
    shown = (networks.current().name_of(balance.network), balance.asset, owed, available, marked)
    return format_html_join("", '<td data-head="{}">{}</td>', zip(_HEADS, shown, strict=True))


def _facts(checked: CheckedPayout, assets: KnownAssets) -> list[tuple[str, object]]:
    transfer, payment = checked.transfer, checked.payment
    on_chain: list[tuple[str, object]] = [("On chain", "Not checked: this network has no provider.")]
    if payment is not None:
        on_chain = [("Paid by", payment.sender), ("Block", f"{payment.block_number}, which is final")]
    return [
        ("Partner", transfer.partner),
        ("Paid to", checked.paid_to),
        ("Network", networks.current().name_of(transfer.network)),
        ("Asset", transfer.asset),
        ("Transaction", transaction_link(transfer.network, transfer.tx_hash)),
        *on_chain,
        ("Amount", assets.amount(transfer, transfer.amount)),
        ("Available before", assets.amount(transfer, checked.available)),
        ("Available after", assets.amount(transfer, checked.available - transfer.amount)),
    ]
