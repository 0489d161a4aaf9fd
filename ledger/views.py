"""The ledger as a partner sees it: the postings of its own entries."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ledger.reading import postings_of_partner
from ledger.serializers import LedgerQuery, PostingPage
from partners.authentication import requester_of
from sweepapi.api.pagination import newest_first
from sweepapi.api.schema import failures


class LedgerEntryViewSet(ViewSet):
    scopes = {"list": "ledger"}

    @extend_schema(
        operation_id="listLedgerEntries",
        summary="List the postings of your sweeps' fees and of payouts to you, newest first",
        tags=["Ledger"],
        parameters=[LedgerQuery],
        responses={200: PostingPage, **failures("listLedgerEntries")},
    )
    def list(self, request: Request) -> Response:
        """Return one page of postings. The postings of an entry balance; they may be split between two pages."""
        requester = requester_of(request)
        filters = LedgerQuery.read(request.query_params, mode=requester.mode)
        cursor, limit = filters.pop("cursor", None), filters.pop("limit")
        postings = postings_of_partner(requester, **filters)
        items, next_cursor = newest_first(postings, time_field="entry__posted_at", cursor=cursor, limit=limit)
        return Response(PostingPage({"items": items, "nextCursor": next_cursor}).data)
