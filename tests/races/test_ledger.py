"""Balances are spent once, and accounts opened once, whatever is booked at the same time."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction

from lab.bench.sweeps.numbers import number_by_time
from ledger.balances import balance_of
from ledger.entries.numbering import hold_numbers, number_entries
from ledger.entries.posting import post_payout, reverse_payout
from ledger.models import Account, Asset, EntryNumber, JournalEntry, SubtreeHash
from ledger.payout_rules import Transfer
from ledger.proofs import trees
from ledger.proofs.trees import Tree
from partners.models import Partner
from sweepapi.modes import Mode
from tests.factories.ledger import book_fee, book_payable, book_payout, transfer
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepTransactionFactory, V4SweepFactory, random_checksum_address
from tests.races import scenes
from tests.races.interleaving import Operation, Race, Rival, assert_serial
from tests.races.scenes import Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unreachable_chain")]

# --- accounts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstFees:
    """Two sweeps of a partner in an asset that the ledger does not know."""

    one: Scene
    other: Scene


def first_fees() -> FirstFees:
    partner, asset = PartnerFactory.create(), random_checksum_address()
    return FirstFees(*(scenes.reported(partner=partner, output_asset=asset) for _ in range(2)))


def one_executed(fees: FirstFees) -> None:
    scenes.executed(fees.one)


def other_executed(fees: FirstFees) -> None:
    scenes.executed(fees.other)


def opened(fees: FirstFees) -> dict[str, Any]:
    asset = fees.one.sweep.output_asset
    return {
        "sweeps": [scenes.outcome(fees.one), scenes.outcome(fees.other)],
        "assets": Asset.objects.filter(asset=asset).count(),
        "accounts": sorted(Account.objects.filter(asset=asset).values_list("name", flat=True)),
    }


def test_the_first_two_fees_in_an_asset_open_its_accounts_once() -> None:
    assert_serial(Race(first_fees, one_executed, other_executed, opened))


# --- numbers and trees ------------------------------------------------------------------------------------------------


def posted() -> Partner:
    """Return a partner with four entries that have no number yet."""
    partner = PartnerFactory.create()
    for _ in range(4):
        book_fee(partner)
    return partner


def numbered(_partner: Partner) -> int:
    return number_entries()


def numbers_of(partner: Partner) -> list[int]:
    return list(EntryNumber.objects.filter(partner=partner).order_by("number").values_list("partner_number", flat=True))


def test_each_entry_gets_one_number_from_one_of_two_sessions() -> None:
    assert_serial(Race(posted, numbered, numbered, numbers_of))


def test_no_entry_is_numbered_while_the_numbers_are_held() -> None:
    partner, rival = posted(), Rival(number_entries)
    with transaction.atomic(), connection.cursor() as cursor:
        hold_numbers(cursor)
        rival.run_until_it_waits()
    assert rival.end() == 0
    assert (number_entries(), numbers_of(partner)) == (4, [0, 1, 2, 3])


def test_two_sessions_that_let_a_tree_grow_store_its_hashes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LEVELS", (1, 2))

    def in_order() -> Tree:
        partner = posted()
        number_by_time()
        return Tree(partner.id, Mode.LIVE)

    def grown(tree: Tree) -> None:
        tree.store(tree.missing())

    def stored(tree: Tree) -> list[tuple[int, int]]:
        hashes = SubtreeHash.objects.filter(partner_id=tree.partner_id)
        return list(hashes.order_by("level", "index").values_list("level", "index"))

    race = Race(in_order, grown, grown, stored)
    assert race.in_turn() == (None, None, [(1, 0), (1, 1), (2, 0)])
    assert_serial(race)


# --- payouts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Owed:
    """A partner who is owed 400, another one with the same wallet, and transfers to it."""

    partner: Partner
    namesake: Partner
    transfers: tuple[Transfer, Transfer]
    booked: JournalEntry


def owed() -> Owed:
    partner = PartnerFactory.create()
    namesake = PartnerFactory.create(payout_wallet=partner.payout_wallet)
    for one in (partner, namesake):
        book_payable(one, 500)
    booked = book_payout(partner, 100)
    return Owed(partner, namesake, (transfer(partner, 300), transfer(partner, 300)), booked)


def pay(paid: Transfer) -> None:
    with transaction.atomic():
        post_payout(paid, sender=None, block_number=None, recorded_by="ops", note="")


def paid(scene: Owed) -> None:
    pay(scene.transfers[0])


def paid_by_another_transfer(scene: Owed) -> None:
    pay(scene.transfers[1])


def same_transfer_given_to_the_namesake(scene: Owed) -> None:
    first = scene.transfers[0]
    pay(transfer(scene.namesake, first.amount, tx_hash=first.tx_hash))


def payout_reversed(scene: Owed) -> None:
    with transaction.atomic():
        reverse_payout(scene.booked, recorded_by="ops", note="A typing error.")


def balances(scene: Owed) -> list[tuple[int, int]]:
    booked = scene.booked
    found = [balance_of(one, network=booked.network, asset=booked.asset) for one in (scene.partner, scene.namesake)]
    return [(balance.owed, balance.available) for balance in found if balance is not None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (paid, paid),
        (paid, paid_by_another_transfer),
        (paid, same_transfer_given_to_the_namesake),
        (paid, payout_reversed),
        (payout_reversed, payout_reversed),
    ],
)
def test_payouts_and_their_reversals(one: Operation[Owed], other: Operation[Owed]) -> None:
    assert_serial(Race(owed, one, other, balances))


# --- payouts and reorganisations --------------------------------------------------------------------------------------

PARTNER_FEE = 3_000  # 40 % of 0.75 % of a million


def reopened_and_owed() -> Scene:
    """Return a sweep whose fee is owed to the partner, was final, and may be reversed after all."""
    tx = SweepTransactionFactory.create(sweep=V4SweepFactory.create())
    scene = Scene(tx.sweep, tx)
    scenes.executed(scene)
    scenes.final(scene)
    scenes.reopened(scene)
    return scene


def fee_paid_out(scene: Scene) -> None:
    sweep = scene.sweep
    pay(transfer(sweep.partner, PARTNER_FEE, network=sweep.network, asset=sweep.output_asset))


def books(scene: Scene) -> dict[str, Any]:
    sweep = scene.sweep
    balance = balance_of(sweep.partner, network=sweep.network, asset=sweep.output_asset)
    assert balance is not None
    return {"sweep": scenes.outcome(scene), "owed": balance.owed, "available": balance.available}


def test_a_fee_that_is_paid_out_while_it_is_reversed_leaves_a_debt_or_is_not_paid() -> None:
    assert_serial(Race(reopened_and_owed, scenes.gone, fee_paid_out, books))
