"""Lets the trees of partners grow, and signs the months that are over: work of a task, of which requests do none."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Q, Sum

from ledger.entries.numbering import hold_numbers
from ledger.models import Checkpoint, Posting
from ledger.proofs.checkpoints import check_intact, last_month, size_before, unsigned
from ledger.proofs.notes import origin_of, signed_note
from ledger.proofs.trees import Tree, TreeDiffersError
from ledger.statements.month import Month
from sweepapi.monitoring import metrics

SUBTREES_AT_ONCE = 500  # in one pass, so that a long ledger that has none occupies no worker for more than a minute
ENTRIES_AT_ONCE = 50_000  # in one sum, which takes a tenth of a second; a worker's statements have two seconds


class _Account(NamedTuple):
    """What names an account, in the fields of the API."""

    network: str
    token: str
    account: str


def sign_months() -> None:
    """Store subtrees that are complete, up to a number, and the checkpoint of each month that is over and has none.

    A tree whose entries are not those that were signed, or not all there, is left as it is; that is logged.
    """
    over, left, differing = last_month(), SUBTREES_AT_ONCE, 0
    for tree, month in unsigned():
        missing = tree.missing()
        now, later = missing[:left], missing[left:]
        left -= len(now)
        try:
            tree.store(now)
            if not later:  # otherwise the next passes go on
                _sign(tree, month, over)
        except TreeDiffersError:
            differing += 1
    metrics.DIFFERING_TREES.set(differing)


def _sign(tree: Tree, month: Month, last: Month) -> None:
    """Sign the months from one to another, if the tree continues the one that was signed before."""
    if month > last:
        return
    former = Checkpoint.objects.filter(partner=tree.partner_id, mode=tree.mode, month=str(month.shifted(-1))).first()
    if former is not None:
        check_intact(tree, former)
    first = size_before(tree, month.start)
    while month <= last:
        size = size_before(tree, month.end)
        root = tree.root(size)
        note = signed_note(origin_of(tree), size=size, root=root, month=month)
        facts = {"size": size, "root": root, "note": note, "totals": _totals(tree, first, size)}
        if not _store(tree, month, facts):
            return  # the next pass signs what is there then
        first, month = size, month.shifted(1)


@transaction.atomic
def _store(tree: Tree, month: Month, facts: Mapping[str, Any]) -> bool:
    """Store a checkpoint; False if an entry was numbered for its month meanwhile, because the clock was set back."""
    with connection.cursor() as cursor:
        hold_numbers(cursor)
    if size_before(tree, month.end) != facts["size"]:
        return False
    Checkpoint.objects.get_or_create(partner_id=tree.partner_id, mode=tree.mode, month=str(month), defaults=facts)
    return True


def _totals(tree: Tree, first: int, end: int) -> Sequence[dict[str, Any]]:
    """Return what these entries moved on each account."""
    debited, credited = Counter[_Account](), Counter[_Account]()
    for start in range(first, end, ENTRIES_AT_ONCE):
        for account, debit, credit in _moved(tree, start, min(start + ENTRIES_AT_ONCE, end)):
            debited[account] += debit
            credited[account] += credit
    return [
        {**account._asdict(), "debit": str(debited[account]), "credit": str(credited[account])}
        for account in sorted(debited)
    ]


def _moved(tree: Tree, first: int, end: int) -> Iterator[tuple[_Account, int, int]]:
    """Yield the sums of debits and credits on each account."""
    postings = Posting.objects.filter(
        entry__numbered__partner=tree.partner_id,
        entry__numbered__mode=tree.mode,
        entry__numbered__partner_number__gte=first,
        entry__numbered__partner_number__lt=end,
    )
    sums = postings.values_list("account__network", "account__asset", "account__name").annotate(
        debit=Sum("amount", filter=Q(amount__gt=0), default=0), credit=Sum("amount", filter=Q(amount__lt=0), default=0)
    )
    for network, asset, name, debit, credit in sums:
        yield _Account(network, asset, name), int(debit), -int(credit)
