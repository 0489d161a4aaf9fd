"""Merkle trees over appended records, as in RFC 9162: roots, and proofs that a record or an earlier tree is in a tree.

A tree is never in memory. Its hashes come from complete subtrees, which don't change any more: the one at ``(level,
index)`` covers the ``2^level`` records from ``index * 2^level`` on. Roots and proofs say which ones they need, so that
these can be read at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

EMPTY_ROOT = sha256().digest()


@dataclass(frozen=True, slots=True)
class Subtree:
    """A complete subtree."""

    level: int
    index: int


@dataclass(frozen=True)
class Span:
    """The records from ``first`` until before ``end``, of which a root or a proof needs one hash."""

    first: int
    end: int

    @property
    def subtrees(self) -> Iterator[Subtree]:
        """The largest complete subtrees that the records are made of, from left to right."""
        first = self.first
        while first < self.end:
            level = (self.end - first).bit_length() - 1
            yield Subtree(level, first >> level)
            first += 1 << level

    def hash(self, hashes: Mapping[Subtree, bytes]) -> bytes:
        """Return the hash of the records from those of the subtrees."""
        *left, result = (hashes[subtree] for subtree in self.subtrees)
        for one in reversed(left):
            result = node_hash(one, result)
        return result


def leaf_hash(record: bytes) -> bytes:
    return sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def inclusion(index: int, size: int) -> Sequence[Span]:
    """Return the spans whose hashes prove that a record is in a tree of ``size`` records (RFC 9162, section 2.1.3.1).

    Raises ValueError unless 0 ≤ index < size.
    """
    if not 0 <= index < size:
        raise ValueError(f"A tree of {size} records has no record {index}.")
    first, end = 0, size
    path: list[Span] = []
    while end - first > 1:
        middle = first + _left_size(end - first)
        if index < middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(first, middle))
            first = middle
    return path[::-1]


def consistency(old_size: int, size: int) -> Sequence[Span]:
    """Return the spans whose hashes prove that a tree continues an earlier one (RFC 9162, section 2.1.4.1).

    None are needed for a tree of the same size. Raises ValueError unless 0 < old_size ≤ size.
    """
    if not 0 < old_size <= size:
        raise ValueError(f"A tree of {size} records does not continue one of {old_size}.")
    first, end = 0, size
    path: list[Span] = []
    while end > old_size:
        middle = first + _left_size(end - first)
        if old_size <= middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(first, middle))
            first = middle
    if first > 0:  # otherwise the rest is the earlier tree itself, whose root is known
        path.append(Span(first, end))
    return path[::-1]


def _left_size(size: int) -> int:
    """Return the largest power of two below the size."""
    return 1 << (size - 1).bit_length() - 1
