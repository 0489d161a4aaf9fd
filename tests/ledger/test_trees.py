"""A partner's tree: its hashes are those of RFC 9162 over the records, whatever is stored and whatever comes next."""

from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from lab.bench.sweeps.numbers import number_by_time
from ledger.models import SubtreeHash
from ledger.proofs import trees
from ledger.proofs.trees import Tree
from partners.models import Partner
from sweepapi.crypto import merkle
from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.merkle import EMPTY_ROOT, leaf_hash, node_hash
from sweepapi.modes import Mode
from tests.examples.test_verify_statement import verifier
from tests.factories.ledger import BASE, book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import LOCAL

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def low_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store subtrees of 4 and of 16 entries, so that some entries are enough."""
    monkeypatch.setattr(trees, "LEVELS", (2, 4))


def book(partner: Partner, count: int, *, network: str = BASE) -> None:
    """Book entries, let them get their numbers, and the trees grow by them."""
    for _ in range(count):
        book_fee(partner, network=network)
    number_by_time()
    for mode in Mode:
        grow(Tree(partner.id, mode))


def grow(tree: Tree) -> None:
    tree.store(tree.missing())


def plain_root(leaves: list[bytes]) -> bytes:
    """Return the root by the definition of the RFC."""
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while 2 * left < len(leaves):
        left *= 2
    return node_hash(plain_root(leaves[:left]), plain_root(leaves[left:]))


def test_an_empty_tree_has_the_empty_root(partner: Partner) -> None:
    assert Tree(partner.id, Mode.LIVE).root(0) == EMPTY_ROOT


@pytest.mark.parametrize("levels", [(2, 4), (1,), (1, 2, 5), (5,)], ids=str)
def test_every_root_and_random_proofs_hold_at_every_size(
    partner: Partner, monkeypatch: pytest.MonkeyPatch, levels: tuple[int, ...]
) -> None:
    monkeypatch.setattr(trees, "LEVELS", levels)
    random = Random(20261123)  # noqa: S311 - not for secrets
    for added in (1, 2, 4, 9, 23):
        book(partner, added)
    tree = Tree(partner.id, Mode.LIVE)
    leaves = [leaf_hash(canonical(record)) for record in tree.records(0, 100)]
    assert len(leaves) == 39
    for size in range(1, 40):
        root = tree.root(size)
        assert root == plain_root(leaves[:size])
        index, former = random.randrange(size), random.randrange(1, size + 1)
        path = tree.hashes(merkle.inclusion(index, size))
        verifier.check_inclusion(index, size, leaves[index], path, root)
        for wrong in (leaf_hash(b"another"), *leaves[:index]):
            with pytest.raises(verifier.DifferenceError):
                verifier.check_inclusion(index, size, wrong, path, root)
        path = tree.hashes(merkle.consistency(former, size))
        verifier.check_consistency((former, plain_root(leaves[:former])), (size, root), path)
        with pytest.raises(verifier.DifferenceError):
            verifier.check_consistency((former, leaf_hash(b"another")), (size, root), path)


def test_subtrees_are_stored_once_and_are_those_of_the_records(partner: Partner) -> None:
    book(partner, 37)
    tree = Tree(partner.id, Mode.LIVE)
    grow(tree)
    stored = SubtreeHash.objects.order_by("level", "index").values_list("level", "index")
    assert list(stored) == [*((2, index) for index in range(9)), (4, 0), (4, 1)]
    leaves = [leaf_hash(canonical(record)) for record in tree.records(0, 37)]
    for row in SubtreeHash.objects.all():
        first = row.index << row.level
        assert bytes(row.hash) == plain_root(leaves[first : first + (1 << row.level)])


def test_a_tree_has_the_entries_of_its_partner_and_mode_alone(partner: Partner) -> None:
    book(partner, 3)
    alone = Tree(partner.id, Mode.LIVE).root(3)
    book(partner, 2, network=LOCAL)
    book(PartnerFactory.create(), 5)
    assert Tree(partner.id, Mode.LIVE).root(3) == alone
    assert len(Tree(partner.id, Mode.TEST).records(0, 100)) == 2


def test_a_hash_takes_the_same_number_of_queries_at_every_size(partner: Partner) -> None:
    counts = []
    for added in (23, 64):
        book(partner, added)
        tree = Tree(partner.id, Mode.LIVE)
        size = len(tree.records(0, 1_000))
        with CaptureQueriesContext(connection) as captured:
            tree.root(size)
        counts.append(len(captured))
    assert counts[0] == counts[1]
