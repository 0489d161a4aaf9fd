"""The endpoints that read stored sweeps; each version of the API shows those of its own rails."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSet

from partners.authentication import requester_of
from sweepapi.api.input.pagination import Scope, newest_first
from sweepapi.api.openapi.schema import failures
from sweepapi.api.requests.renderers import answer
from sweepapi.errors import SweepNotFound
from sweeps.protocol.presentation import Presentation, Snapshot
from sweeps.rails.registry import RAILS
from sweeps.serializers.history import SweepPage
from sweeps.shown.listing import listed
from sweeps.shown.reading import read_snapshot, read_summaries
from sweeps.story.reach import HistoryFilter, sweeps_of_partner
from sweeps.views.serializers.requests import HistoryQuery

V = TypeVar("V", bound=type[ViewSet])
SWEEP_ID_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SWEEP_ID = OpenApiParameter("sweep_id", UUID, OpenApiParameter.PATH, description="sweepId of the build.")


def documented(*, get: str, listing: str, where: str, tag: str, state: type[Serializer[Any]]) -> Callable[[V], V]:
    """Describe the two operations of a version, which have these ids, in the OpenAPI document."""
    return extend_schema_view(
        retrieve=extend_schema(
            operation_id=get,
            summary=f"Get the state of a sweep on {where}",
            parameters=[SWEEP_ID],
            tags=[tag],
            responses={200: state, **failures(get)},
        ),
        list=extend_schema(
            operation_id=listing,
            summary=f"List your sweeps on {where}, newest first",
            parameters=[HistoryQuery],
            tags=[tag],
            responses={200: SweepPage, **failures(listing)},
        ),
    )


def sweep_id_of(text: str) -> UUID:
    """Return the id of a path; a sweep whose id is not a canonical UUID does not exist."""
    if not SWEEP_ID_FORM.fullmatch(text):
        raise SweepNotFound
    return UUID(text)


class StoredSweepViewSet(ViewSet):
    """The sweeps of the key's partner on the rails of one version."""

    rails: ClassVar[Collection[str]]
    present: ClassVar[Presentation]
    read = staticmethod(read_snapshot)
    scopes: ClassVar[Mapping[str, str]] = {"retrieve": "read", "list": "read"}

    def retrieve(self, request: Request, sweep_id: str) -> HttpResponse:
        """Return the sweep with its transactions, its fee terms, its events and its postings."""
        return self.show(self.read(requester_of(request), sweep_id_of(sweep_id), rails=self.rails))

    def show(self, snapshot: Snapshot, status: int = 200) -> HttpResponse:
        """Return the response with the status object of a sweep."""
        return answer(self.present.status_object(snapshot, RAILS[snapshot["rail"]]), status)

    def list(self, request: Request) -> HttpResponse:
        """Return one page of sweeps in brief."""
        requester = requester_of(request)
        filters = HistoryQuery.read(request.query_params, mode=requester.mode)
        cursor, limit = filters.pop("cursor", None), filters.pop("limit")
        sweeps = sweeps_of_partner(requester, HistoryFilter(**filters), rails=self.rails)
        scope = Scope(f"sweeps of {', '.join(self.rails)}", requester.partner_id, requester.mode, filters)
        page, next_cursor = newest_first(
            sweeps.only("id", "created_at"), time_field="created_at", scope=scope, cursor=cursor, limit=limit
        )
        items = [listed(one, RAILS[one["rail"]]) for one in read_summaries([sweep.id for sweep in page])]
        return answer({"items": items, "nextCursor": next_cursor})
