"""Lets the trees of partners grow, and signs the months that are over: work of a task, of which requests do none."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, Sum

from ledger.models import Checkpoint, Posting
from ledger.proofs.checkpoints import RootDiffersError, check_intact, last_month, size_before, unsigned
from ledger.proofs.notes import origin_of, signed_note
from ledger.proofs.trees import Tree
from ledger.statements.month import Month
from sweepapi.monitoring import metrics


def sign_months() -> None:
    """Store the subtrees that are complete, and the checkpoint of each month since a tree's first entry that is over.

    A tree whose entries are not those that were signed is left as it is; ``check_intact`` reports it.
    """
    over, differing = last_month(), 0
    for tree, month in unsigned():
        if not tree.grow():
            continue  # the next passes go on
        try:
            _sign(tree, month, over)
        except RootDiffersError:
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
        Checkpoint.objects.get_or_create(partner_id=tree.partner_id, mode=tree.mode, month=str(month), defaults=facts)
        first, month = size, month.shifted(1)


def _totals(tree: Tree, first: int, end: int) -> Sequence[dict[str, Any]]:
    """Return what these entries moved on each account."""
    moved = Posting.objects.filter(
        entry__numbered__partner=tree.partner_id,
        entry__numbered__mode=tree.mode,
        entry__numbered__partner_number__gte=first,
        entry__numbered__partner_number__lt=end,
    )
    names = ("account__network", "account__asset", "account__name")
    sums = moved.values_list(*names).annotate(
        debit=Sum("amount", filter=Q(amount__gt=0), default=0), credit=Sum("amount", filter=Q(amount__lt=0), default=0)
    )
    return [
        {"network": network, "token": asset, "account": name, "debit": str(int(debit)), "credit": str(-int(credit))}
        for network, asset, name, debit, credit in sums.order_by(*names)
    ]
