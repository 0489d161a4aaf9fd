"""The statements of a partner: to read and print, and as CSV."""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.text import slugify

from ledger.statements.month import Month
from ledger.statements.reading import months_of, statement
from ledger.statements.spreadsheet import csv_chunks
from ledger.statements.values import AssetStatement, Column, Line, ShownAsset
from partners.models import Partner
from sweepapi import networks
from sweepapi.admin.explorer import transaction_link
from sweepapi.admin.pages import AdminPages
from sweepapi.token_amounts import whole_tokens

_COLUMNS = {
    Column.ACCRUED: "Accrued",
    Column.REVERSED: "Reversed",
    Column.PAID: "Paid",
    "balance": "Balance",
    Column.SETTLED_ON_CHAIN: "Settled on chain",
}


def statement_links(partner: Partner) -> SafeString:
    """Link to the statement of each month, newest first."""
    months = months_of(partner)
    links = ((reverse("admin:ledger_statement", args=[partner.pk, month]), month) for month in months)
    return format_html_join(" ", '<a href="{}">{}</a>', links) or SafeString("None.")


class StatementPages(AdminPages):
    """The admin of a model whose rows are partners, with a statement for each of their months."""

    def get_urls(self) -> list[URLPattern]:
        month = "<uuid:partner_id>/statement/<str:month>"
        return [
            path(f"{month}.csv", self.admin_site.admin_view(self.statement_csv), name="ledger_statement_csv"),
            path(f"{month}/", self.admin_site.admin_view(self.statement_page), name="ledger_statement"),
            *super().get_urls(),
        ]

    def statement_page(self, request: HttpRequest, partner_id: UUID, month: str) -> HttpResponse:
        """Show a statement to read on a screen or to print."""
        partner, parsed = self._subject(request, partner_id, month)
        read = statement(partner, parsed)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Statement {parsed}",
            "statement": read,
            "columns": _COLUMNS.values(),
            "assets": [_asset_context(asset) for asset in read.assets],
            "older": parsed.shifted(-1),
            "newer": parsed.shifted(1),
        }
        return TemplateResponse(request, "admin/ledger/statement.html", context)

    def statement_csv(self, request: HttpRequest, partner_id: UUID, month: str) -> HttpResponseBase:
        """Stream a statement with all its lines."""
        partner, parsed = self._subject(request, partner_id, month)
        name = f"statement-{slugify(partner.name) or partner.pk}-{parsed}.csv"
        disposition = content_disposition_header(as_attachment=True, filename=name)
        return StreamingHttpResponse(
            csv_chunks(partner, parsed),
            content_type="text/csv; charset=utf-8; header=present",
            headers={"Content-Disposition": disposition},
        )

    def _subject(self, request: HttpRequest, partner_id: UUID, month: str) -> tuple[Partner, Month]:
        if not self.has_view_permission(request):
            raise PermissionDenied
        partner = get_object_or_404(Partner, pk=partner_id)
        try:
            parsed = Month.parse(month)
        except ValueError as error:
            raise Http404(str(error)) from error
        if parsed.start > timezone.now():
            raise Http404("This month has not begun.")
        return partner, parsed


@dataclass(frozen=True)
class _Amount:
    """An amount in the smallest unit and, if its decimals are known, in whole tokens."""

    units: int
    tokens: str

    @classmethod
    def of(cls, units: int, shown: ShownAsset) -> Self:
        return cls(units, "" if shown.decimals is None else whole_tokens(units, shown.decimals))


def _asset_context(asset: AssetStatement) -> dict[str, Any]:
    shown, totals = asset.shown, asset.totals
    figures = {
        "Opening": totals.opening,
        "Accrued": totals.accrued,
        "Reversed": totals.reversed,
        "Paid": totals.paid,
        "Closing": totals.closing,
        "Of it final": totals.final,
        "Settled on chain": totals.settled_on_chain,
    }
    return {
        "shown": shown,
        "network_name": networks.current().name_of(shown.network),
        "figures": [(label, _Amount.of(units, shown)) for label, units in figures.items()],
        "rows": [_row_context(line, balance, shown) for line, balance in asset.lines],
        "hidden_line_count": asset.line_count - len(asset.lines),
    }


def _row_context(line: Line, balance: int, shown: ShownAsset) -> dict[str, Any]:
    amounts = {line.column: _Amount.of(line.amount, shown), "balance": _Amount.of(balance, shown)}
    return {
        "line": line,
        "kind": line.kind.replace("_", " ").capitalize(),
        "entry_url": reverse("admin:ledger_journalentry_change", args=[line.entry_id]),
        "transaction": transaction_link(shown.network, line.tx_hash),
        "cells": [(label, amounts.get(column)) for column, label in _COLUMNS.items()],
    }
