"""The books as a partner sees them: its own entries, posting by posting."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ledger.reading import postings_of_partner
from ledger.serializers import LedgerQuery, PostingPage
from partners.authentication import partner_of
from sweepapi.api.pagination import newest_first
from sweepapi.api.schema import partner_errors
from sweepapi.errors import InvalidRequest, UnsupportedChain


class LedgerEntryViewSet(ViewSet):
    """The partner's postings."""

    @extend_schema(
        operation_id="listLedgerEntries",
        summary="The postings of your sweeps' fees, newest first",
        tags=["Ledger"],
        parameters=[LedgerQuery],
        responses={200: PostingPage, **partner_errors(InvalidRequest, UnsupportedChain)},
    )
    def list(self, request: Request) -> Response:
        """Return one page of postings; an entry's postings balance, and may lie on two pages."""
        query = LedgerQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked: dict[str, Any] = query.validated_data
        postings = postings_of_partner(
            partner_of(request), chain_id=asked.get("chain"), since=asked.get("since"), until=asked.get("until")
        )
        items, next_cursor = newest_first(
            postings, time_field="entry__posted_at", cursor=asked.get("cursor"), limit=asked["limit"]
        )
        return Response(PostingPage({"items": items, "nextCursor": next_cursor}).data)
