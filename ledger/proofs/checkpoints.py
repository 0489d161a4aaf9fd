"""The checkpoints of months: the size of a tree at the end of a month, its root, and what the month moved, once signed.

They are signed by a task, when the month is over by the database's clock. Requests only read them.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

import structlog
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery

from ledger.entries.numbering import hold_numbers
from ledger.listing import numbers_of
from ledger.models import Checkpoint, EntryNumber
from ledger.proofs.trees import Tree, TreeDiffersError
from ledger.statements.month import Month
from ledger.statements.values import ENTRIES_ARRIVE_WITHIN
from partners.models import Partner
from sweepapi.errors import StatementNotFound, StatementNotReady
from sweepapi.modes import Mode
from sweepapi.postgres.clock import database_time

log = structlog.get_logger(__name__)


def checkpoint_of(tree: Tree, month: Month) -> Checkpoint:
    """Return the checkpoint of a month.

    Raises ``StatementNotFound`` for a past month before the first entry, ``StatementNotReady`` until it is signed, and
    ``TreeDiffersError``, with an alert, if the entries are not those that were signed.
    """
    stored = Checkpoint.objects.filter(partner=tree.partner_id, mode=tree.mode, month=str(month)).first()
    if stored is not None:
        check_intact(tree, stored)
        return stored
    if is_over(month) and size_before(tree, month.end) == 0:
        raise StatementNotFound
    raise StatementNotReady


def check_intact(tree: Tree, checkpoint: Checkpoint) -> None:
    """Raise ``TreeDiffersError``, with an alert, unless the tree has the entries that were signed."""
    size = size_before(tree, Month.parse(checkpoint.month).end)
    if size != checkpoint.size or tree.root(size) != bytes(checkpoint.root):
        log.error("statement_differs", partner_id=str(tree.partner_id), mode=tree.mode, month=checkpoint.month)
        raise TreeDiffersError(f"The entries until {checkpoint.month} are not those of the checkpoint.")


def size_before(tree: Tree, moment: datetime) -> int:
    """Return how many entries were numbered before a moment."""
    numbers = numbers_of(tree.partner_id, tree.mode).filter(numbered_at__lt=moment)
    last = numbers.order_by("-numbered_at", "-partner_number").values_list("partner_number", flat=True).first()
    return 0 if last is None else last + 1


def is_over(month: Month) -> bool:
    """Whether nothing can be added to a month any more."""
    return database_time() >= month.end + ENTRIES_ARRIVE_WITHIN


def unsigned() -> Iterator[tuple[Tree, Month]]:
    """Yield each tree that has entries, with its first month that is not signed, whether or not that is over."""
    for mode in Mode:
        entries = EntryNumber.objects.filter(partner=OuterRef("pk"), mode=mode).order_by("partner_number")
        signed = Checkpoint.objects.filter(partner=OuterRef("pk"), mode=mode).order_by("-month")
        partners = Partner.objects.order_by("pk").annotate(
            began_at=Subquery(entries.values("numbered_at")[:1]), signed=Subquery(signed.values("month")[:1])
        )
        for partner_id, began_at, last in partners.values_list("pk", "began_at", "signed"):
            if began_at is not None:
                yield Tree(partner_id, mode), Month.of(began_at) if last is None else Month.parse(last).shifted(1)


def oldest_waits() -> timedelta:
    """Return for how long the oldest month that is over waits for its checkpoint; zero if none does."""
    oldest = min((month for _, month in unsigned()), default=None)
    if oldest is None:
        return timedelta()
    return max(database_time() - ENTRIES_ARRIVE_WITHIN - oldest.end, timedelta())


@transaction.atomic
def last_month() -> Month:
    """Return the last month that is over, once no entry is being numbered that could belong to it."""
    with connection.cursor() as cursor:
        hold_numbers(cursor)
    return Month.of(database_time() - ENTRIES_ARRIVE_WITHIN).shifted(-1)
