"""The ledger as a partner sees it: the entries about its sweeps and payouts, and its balances."""

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ledger.exports import Export
from ledger.listing import Entries, EntryFilter
from ledger.serializers import BalancesQuery, BalancesSerializer, LedgerQuery, PostingPage
from ledger.totals import totals_of
from partners.authentication import requester_of
from sweepapi.api.input.pagination import Scope
from sweepapi.api.openapi.schema import failures
from sweepapi.api.requests.renderers import CsvRenderer, EnvelopeRenderer
from sweepapi.errors import FieldError, InvalidRequest

TAG = "Ledger"
JSON, CSV = EnvelopeRenderer.media_type, CsvRenderer.media_type


class LedgerEntryViewSet(ViewSet):
    renderer_classes = [EnvelopeRenderer, CsvRenderer]
    scopes = {"list": "ledger"}

    @extend_schema(
        operation_id="listLedgerEntries",
        summary="List the entries about your sweeps and payouts, newest first",
        tags=[TAG],
        parameters=[LedgerQuery],
        responses={
            (200, JSON): PostingPage,
            (200, CSV): OpenApiTypes.STR,
            **{(status, JSON): response for status, response in failures("listLedgerEntries").items()},
        },
    )
    def list(self, request: Request) -> HttpResponseBase:
        """Return one page, whose `limit` counts entries, or all entries that match as CSV, if `Accept` prefers that.

        Items are postings; those of an entry balance, and are on one page. An entry is listed once it has its number,
        about a second after the sweep shows it, and what has a lower number was listed before: so no entry is missed
        by who has read up to some number.

        The columns of the CSV are the fields of the items. It takes neither `cursor` nor `limit`. The body is chunked;
        if it ends before its last chunk, the file is incomplete.
        """
        requester = requester_of(request)
        filters = LedgerQuery.read(request.query_params, mode=requester.mode)
        cursor, limit = filters.pop("cursor", None), filters.pop("limit")
        entries = Entries(requester.partner_id, requester.mode, EntryFilter(**filters))
        if request.accepted_renderer.media_type == CSV:
            return _csv(request, entries)
        scope = Scope("entries", entries.partner_id, entries.mode, filters)
        before = None if cursor is None else int.from_bytes(scope.unseal(cursor))
        page = entries.page(before=before, limit=limit)
        next_cursor = None if page.last is None else scope.seal(page.last.to_bytes(8))
        shown = {"items": page.postings, "nextCursor": next_cursor}
        return Response(PostingPage(shown, context={"assets": page.assets()}).data)


class LedgerBalanceViewSet(ViewSet):
    scopes = {"retrieve": "ledger"}

    @extend_schema(
        operation_id="getLedgerBalances",
        summary="Get what you earned, were paid and are owed",
        tags=[TAG],
        parameters=[BalancesQuery],
        responses={200: BalancesSerializer, **failures("getLedgerBalances")},
    )
    def retrieve(self, request: Request) -> Response:
        """Return the balance of every token in which you earned, now or at a time, after the entry of a number."""
        requester = requester_of(request)
        at = BalancesQuery.read(request.query_params, mode=requester.mode).get("at")
        totals = totals_of(requester.partner_id, requester.mode, at=at)
        return Response(BalancesSerializer({"at": at, "last": totals.last, "assets": totals.assets}).data)


def _csv(request: Request, entries: Entries) -> StreamingHttpResponse:
    paged = [name for name in ("cursor", "limit") if name in request.query_params]
    if paged:
        message = "A CSV file has all entries that match."
        raise InvalidRequest(details=[FieldError(name, "not_applicable", message) for name in paged])
    return StreamingHttpResponse(
        Export(entries),
        content_type=f"{CSV}; charset=utf-8; header=present",
        headers={"Content-Disposition": 'attachment; filename="ledger-entries.csv"'},
    )
