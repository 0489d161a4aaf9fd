"""A partner's entries as CSV (RFC 4180, UTF-8): read page by page, so that their number doesn't matter.

No transaction is open between two pages, however slowly the client reads. An export that fails ends without the last
chunk of its body, which HTTP clients report as an error.
"""

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from threading import BoundedSemaphore

from ledger.csv_files import Echo, inert
from ledger.listing import Entries
from ledger.serializers import EntryPostingSerializer
from sweepapi.errors import TooManyExports
from sweepapi.limits.places import taking_place

ENTRIES_PER_PAGE = 500
RETRY_AFTER_SECONDS = 5
COLUMNS = list(EntryPostingSerializer().fields)
# Of a process: each takes one of its threads until the client has read everything.
_places = BoundedSemaphore(2)


class Export(Iterator[str]):
    """The pieces of a file, each a page; it has one of this process's places until it is closed.

    The first page is read at once, so what is listed is what was listed then. Raises TooManyExports without a place.
    """

    def __init__(self, entries: Entries) -> None:
        with ExitStack() as stack:
            stack.enter_context(taking_place(_places, TooManyExports(retry_after_seconds=RETRY_AFTER_SECONDS)))
            pieces = _pieces(entries)
            self._pieces = chain([next(pieces)], pieces)
            self._place = stack.pop_all()

    def __next__(self) -> str:
        return next(self._pieces)

    def close(self) -> None:
        """Give the place back, also before the end; the server calls this, whatever happened to the connection."""
        self._place.close()


def _pieces(entries: Entries) -> Iterator[str]:
    writer = csv.DictWriter(Echo(), COLUMNS)
    piece, last = str(writer.writeheader()), None
    while True:
        page = entries.page(before=last, limit=ENTRIES_PER_PAGE)
        rows = EntryPostingSerializer(page.postings, many=True, context={"assets": page.assets()}).data
        yield piece + "".join(writer.writerow(row | {"symbol": inert(row["symbol"] or "")}) for row in rows)
        if page.last is None:
            return
        piece, last = "", page.last
