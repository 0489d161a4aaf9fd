"""Proves from a partner's tree what a checkpoint covers: its records, one entry, or an earlier state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger.entries.records import Record
from ledger.listing import numbers_of
from ledger.models import Checkpoint
from ledger.proofs.checkpoints import checkpoint_of, size_before
from ledger.proofs.trees import Tree
from ledger.statements.month import Month
from sweepapi.crypto import merkle
from sweepapi.crypto.merkle import Span
from sweepapi.errors import EntryNotFound, FieldError, InvalidRequest


@dataclass(frozen=True)
class StatementPage:
    """Some records of a statement, oldest first."""

    checkpoint: Checkpoint
    records: Sequence[Record]
    before: dict[str, Any]  # in the fields of the API
    next_number: int | None  # of the first record of the next page; None on the last


def statement_page(tree: Tree, month: Month, *, first: int | None, limit: int) -> StatementPage:
    """Return the records from the number ``first`` on, by default from the first of the month.

    Raises what ``checkpoint_of`` raises.
    """
    checkpoint = checkpoint_of(tree, month)
    former_size = size_before(tree, month.start)
    start = former_size if first is None else first
    end = min(start + limit, checkpoint.size)
    former = Span(0, former_size)
    before = {
        "size": former_size,
        "root": tree.root(former_size).hex(),
        "hashes": [found.hex() for found in tree.subtree_hashes(former)],
    }
    return StatementPage(checkpoint, tree.records(start, end), before, end if end < checkpoint.size else None)


def inclusion(tree: Tree, checkpoint: Checkpoint, entry: str | int) -> dict[str, Any]:
    """Return that an entry, by its id or number, is in the tree of a checkpoint; else raises ``EntryNotFound``."""
    numbers = numbers_of(tree.partner_id, tree.mode).filter(partner_number__lt=checkpoint.size)
    named = {"partner_number": entry} if isinstance(entry, int) else {"entry": entry}
    index = numbers.filter(**named).values_list("partner_number", flat=True).first()
    if index is None:
        raise EntryNotFound
    (record,) = tree.records(index, index + 1)
    hashes = tree.hashes(merkle.inclusion(index, checkpoint.size))
    return {"record": record, "index": index, "hashes": [found.hex() for found in hashes]}


def consistency(tree: Tree, checkpoint: Checkpoint, earlier: Month | int) -> dict[str, Any]:
    """Return that the tree of a checkpoint continues an earlier one.

    Raises InvalidRequest if that is a later one, and what ``checkpoint_of`` raises for a month.
    """
    if isinstance(earlier, int):
        size = earlier
    elif str(earlier) > checkpoint.month:
        raise _later("The month is later than the statement.")
    else:
        size = checkpoint_of(tree, earlier).size
    if size > checkpoint.size:
        raise _later(f"The tree has {checkpoint.size} entries at the end of {checkpoint.month}.")
    hashes = tree.hashes(merkle.consistency(size, checkpoint.size)) if size else []
    return {"size": size, "root": tree.root(size).hex(), "hashes": [found.hex() for found in hashes]}


def _later(message: str) -> InvalidRequest:
    return InvalidRequest(details=[FieldError("from", "out_of_range", message)])
