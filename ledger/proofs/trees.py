"""The hashes of a partner's tree, from those of complete subtrees that are stored, and from the entries of the rest.

The missing ones are stored before a size is signed; so what is read for a signed size is there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db.models import Q, QuerySet

from ledger.entries.records import Record, records_of
from ledger.listing import numbers_of
from ledger.models import SubtreeHash
from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.merkle import EMPTY_ROOT, Span, Subtree, leaf_hash, node_hash
from sweepapi.modes import Mode

# A hash takes at most 255 entries, 255 hashes of the first level, and one of the second for each 65,536 entries.
LEVELS = (8, 16)
_LEAVES = 0


log = structlog.get_logger(__name__)


class TreeDiffersError(Exception):
    """The entries of a tree are not those that were signed, or not all there."""


@dataclass(frozen=True)
class Tree:
    """The tree of a partner and mode."""

    partner_id: UUID
    mode: Mode

    def records(self, first: int, end: int) -> list[Record]:
        """Return the records from ``first`` until before ``end``, as far as they exist."""
        numbers = numbers_of(self.partner_id, self.mode).filter(partner_number__gte=first, partner_number__lt=end)
        return records_of(numbers.order_by("partner_number"))

    def root(self, size: int) -> bytes:
        """Return the root over the first ``size`` entries; no subtree of theirs may be missing."""
        if size == 0:
            return EMPTY_ROOT
        (root,) = self.hashes([Span(0, size)])
        return root

    def hashes(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the hash of each span, in at most four queries however long they are.

        No subtree of the entries up to their ends may be missing.
        """
        subtrees = {subtree for span in spans for subtree in span.subtrees}
        found = self._hashes(subtrees)
        return [span.hash(found) for span in spans]

    def subtree_hashes(self, span: Span) -> list[bytes]:
        """Return the hashes of the largest complete subtrees that a span is made of, from left to right."""
        subtrees = list(span.subtrees)
        found = self._hashes(subtrees)
        return [found[subtree] for subtree in subtrees]

    def missing(self) -> list[Subtree]:
        """Return the complete subtrees whose hashes have to be stored and are not, the lower ones first."""
        last = numbers_of(self.partner_id, self.mode).order_by("-partner_number").first()
        size, missing = 0 if last is None else last.partner_number + 1, []
        for level in LEVELS:
            newest = self._stored().filter(level=level).order_by("-index").first()
            first = 0 if newest is None else newest.index + 1
            missing += [Subtree(level, index) for index in range(first, size >> level)]
        return missing

    def store(self, subtrees: Iterable[Subtree]) -> None:
        """Store the hashes of some that are missing, from the first on."""
        for subtree in subtrees:
            (found,) = self._made_of_lower([subtree], _below(subtree.level)).values()
            row = SubtreeHash(
                partner_id=self.partner_id, mode=self.mode, level=subtree.level, index=subtree.index, hash=found
            )
            SubtreeHash.objects.bulk_create([row], ignore_conflicts=True)

    def _hashes(self, subtrees: Iterable[Subtree]) -> dict[Subtree, bytes]:
        """Return the hashes of complete subtrees, each made of the highest level that is stored and not above it."""
        by_source: dict[int, list[Subtree]] = {}
        for subtree in subtrees:
            by_source.setdefault(_below(subtree.level + 1), []).append(subtree)
        found: dict[Subtree, bytes] = {}
        for source, some in by_source.items():
            found |= self._made_of_lower(some, source)
        return found

    def _made_of_lower(self, subtrees: Sequence[Subtree], source: int) -> dict[Subtree, bytes]:
        """Return the hashes of subtrees from those of a lower level."""
        parts = {subtree: _parts(subtree, source) for subtree in subtrees}
        known = self._leaves(parts.values()) if source == _LEAVES else self._read(parts.values(), source)
        absent = {index for indexes in parts.values() for index in indexes} - known.keys()
        if absent:
            facts = {"partner_id": str(self.partner_id), "mode": self.mode, "level": source, "index": min(absent)}
            log.error("tree_incomplete", **facts)
            raise TreeDiffersError("A part of the tree is missing.")
        return {subtree: _fold([known[index] for index in indexes]) for subtree, indexes in parts.items()}

    def _leaves(self, ranges: Iterable[range]) -> Mapping[int, bytes]:
        numbers = numbers_of(self.partner_id, self.mode).filter(_any_of(ranges, "partner_number"))
        return {record["number"]: leaf_hash(canonical(record)) for record in records_of(numbers)}

    def _read(self, ranges: Iterable[range], level: int) -> Mapping[int, bytes]:
        rows = self._stored().filter(_any_of(ranges, "index"), level=level)
        return {index: bytes(found) for index, found in rows.values_list("index", "hash")}

    def _stored(self) -> QuerySet[SubtreeHash]:
        return SubtreeHash.objects.filter(partner=self.partner_id, mode=self.mode)


def _below(level: int) -> int:
    """Return the highest level below this one whose hashes can be read: a stored one, or that of the entries."""
    return max((stored for stored in LEVELS if stored < level), default=_LEAVES)


def _parts(subtree: Subtree, source: int) -> range:
    """Return the indexes of the subtrees of a lower level that a subtree consists of."""
    height = subtree.level - source
    return range(subtree.index << height, (subtree.index + 1) << height)


def _any_of(ranges: Iterable[range], field: str) -> Q:
    condition = Q()
    for one in ranges:
        condition |= Q(**{f"{field}__gte": one.start, f"{field}__lt": one.stop})
    return condition


def _fold(hashes: Sequence[bytes]) -> bytes:
    """Return the root of a complete subtree from the hashes of one of its levels."""
    while len(hashes) > 1:
        hashes = [node_hash(left, right) for left, right in zip(hashes[::2], hashes[1::2], strict=True)]
    return hashes[0]
