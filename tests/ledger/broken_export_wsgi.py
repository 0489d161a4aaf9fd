"""The WSGI application with one path, an export whose second page fails, for tests that need a real server."""

from uuid import UUID

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path

from config.wsgi import application
from ledger.exports import Export
from ledger.listing import Entries, EntryFilter, EntryPage
from sweepapi.modes import Mode


class BrokenEntries(Entries):
    def page(self, *, before: int | None, limit: int) -> EntryPage:  # noqa: ARG002 - as it is
        """Return a page that says that there are more entries, and then fail."""
        if before is None:
            return EntryPage([], last=1)
        raise OperationalError


def export(_request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(Export(BrokenEntries(UUID(int=0), Mode.LIVE, EntryFilter())), content_type="text/csv")


settings.ROOT_URLCONF = __name__
urlpatterns = [path("export", export)]

__all__ = ["application"]
