"""Roots and proofs of Merkle trees, against the examples of Certificate Transparency and against plain recursion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweepapi.crypto.merkle import EMPTY_ROOT, Span, Subtree, consistency, inclusion, leaf_hash, node_hash

# The records and roots of Certificate Transparency's own tests.
RECORDS = [
    bytes.fromhex(text)
    for text in (*("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"),)
]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
SIZES = st.integers(1, 200)


class Tree:
    """A tree that is wholly in memory, by the recursion of the RFC's definition."""

    def __init__(self, size: int) -> None:
        self.records = [number.to_bytes(4) for number in range(size)]

    def hash(self, first: int, end: int) -> bytes:
        if end - first == 1:
            return leaf_hash(self.records[first])
        left = 1
        while left * 2 < end - first:
            left *= 2
        return node_hash(self.hash(first, first + left), self.hash(first + left, end))

    def proof(self, spans: list[Span]) -> list[bytes]:
        return [span.hash({one: self.complete(one) for one in span.subtrees}) for span in spans]

    def complete(self, subtree: Subtree) -> bytes:
        first = subtree.index << subtree.level
        return self.hash(first, first + (1 << subtree.level))


def includes(record: bytes, index: int, size: int, proof: list[bytes], root: bytes) -> bool:
    """Verify as in RFC 9162, section 2.1.3.2."""
    fn, sn, computed = index, size - 1, leaf_hash(record)
    for one in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            computed = node_hash(one, computed)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            computed = node_hash(computed, one)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and computed == root


def continues(old_size: int, old_root: bytes, size: int, root: bytes, proof: list[bytes]) -> bool:
    """Verify as in RFC 9162, section 2.1.4.2."""
    if old_size == size:
        return not proof and old_root == root
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else proof
    fn, sn = old_size - 1, size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old, new = path[0], path[0]
    for one in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            old, new = node_hash(one, old), node_hash(one, new)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = node_hash(new, one)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and old == old_root and new == root


def test_a_tree_without_records_has_the_root_of_the_rfc() -> None:
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(("size", "root"), ROOTS.items())
def test_roots_are_those_of_certificate_transparency(size: int, root: str) -> None:
    tree = Tree(0)
    tree.records = RECORDS
    (found,) = tree.proof([Span(0, size)])
    assert found.hex() == root


@given(size=SIZES, data=st.data())
def test_each_record_is_proven_to_be_in_the_tree_and_no_other(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    tree = Tree(size)
    root = tree.hash(0, size)
    proof = tree.proof(list(inclusion(index, size)))

    assert includes(tree.records[index], index, size, proof, root)
    assert not includes(b"another", index, size, proof, root)


@given(sizes=st.tuples(SIZES, SIZES))
def test_a_tree_is_proven_to_continue_an_earlier_one_and_no_other(sizes: tuple[int, int]) -> None:
    old_size, size = sorted(sizes)
    tree = Tree(size)
    old_root, root = tree.hash(0, old_size), tree.hash(0, size)
    proof = tree.proof(list(consistency(old_size, size)))

    assert continues(old_size, old_root, size, root, proof)
    assert not continues(old_size, leaf_hash(b"another"), size, root, proof)


@given(size=st.integers(1, 2**40))
def test_a_root_needs_few_hashes_however_large_the_tree_is(size: int) -> None:
    assert len(list(Span(0, size).subtrees)) == size.bit_count()


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_record_outside_the_tree_has_no_proof(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="has no record"):
        inclusion(index, size)


@pytest.mark.parametrize(("old_size", "size"), [(0, 3), (4, 3)])
def test_a_tree_does_not_continue_an_empty_or_a_larger_one(old_size: int, size: int) -> None:
    with pytest.raises(ValueError, match="does not continue"):
        consistency(old_size, size)
