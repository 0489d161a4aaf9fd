"""Payouts by example: what is owed, what can be paid out, and what is refused."""

import pytest
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from ledger.balances import Balance, balance_of, balances_of
from ledger.entries.posting import finalize, post_payout, reverse, reverse_payout
from ledger.errors import PayoutRefusedError
from ledger.models import Finality, JournalEntry
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, random_hash, transfer, undo_payout
from tests.factories.partners import PartnerFactory
from tests.sessions import Session, at_once

pytestmark = pytest.mark.django_db

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


def balance(partner: Partner) -> tuple[int, int]:
    """Return what the partner is owed in WETH on Base, and how much of it is available."""
    connection.check_constraints()
    found = balance_of(partner, network=BASE, asset=WETH)
    assert found is not None
    return found.owed, found.available


def journal(entry: JournalEntry) -> list[tuple[str, str, int]]:
    return [(p.account.name, p.direction, p.magnitude) for p in entry.postings.select_related("account")]


def test_an_accrual_is_owed_at_once_and_available_when_final(partner: Partner) -> None:
    entry = book_payable(partner, 400, final=False)
    assert balance(partner) == (400, 0)
    finalize([entry.pk])
    assert balance(partner) == (400, 400)


def test_finality_is_recorded_once(partner: Partner) -> None:
    entry = book_payable(partner, 400)
    finalize([entry.pk])
    assert Finality.objects.count() == 1
    assert balance(partner) == (400, 400)


def test_a_payout_moves_what_is_owed_to_what_was_paid(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 300)
    assert journal(paid) == [("partner_payable", "debit", 300), ("partner_paid", "credit", 300)]
    assert balance(partner) == (100, 100)
    assert (paid.kind, paid.booking_epoch, paid.recorded_by, paid.note) == ("payout", 0, "ops", "A payout.")
    assert (paid.payout.recipient, paid.payout.sender) == (partner.payout_wallet, None)


def test_the_reversal_of_a_payout_restores_the_balance(partner: Partner) -> None:
    book_payable(partner, 400)
    reversal = undo_payout(book_payout(partner, 300))
    assert journal(reversal) == [("partner_payable", "credit", 300), ("partner_paid", "debit", 300)]
    assert (reversal.recorded_by, reversal.note) == ("ops", "A typing error.")
    assert balance(partner) == (400, 400)


def test_a_typing_error_can_be_corrected_twice(partner: Partner) -> None:
    book_payable(partner, 400)
    tx_hash = random_hash()
    for mistake in (100, 200):
        undo_payout(book_payout(partner, mistake, tx_hash=tx_hash))
    book_payout(partner, 300, tx_hash=tx_hash)
    assert balance(partner) == (100, 100)
    assert list(JournalEntry.objects.filter(kind="payout").order_by("pk").values_list("booking_epoch", flat=True)) == [
        0,
        1,
        2,
    ]


def test_a_reversed_accrual_is_neither_owed_nor_available(partner: Partner) -> None:
    for final in (True, False):
        reverse(book_payable(partner, 400, final=final))
    assert balance(partner) == (0, 0)


def test_a_reorganisation_after_a_payout_leaves_a_debt_that_later_accruals_settle(partner: Partner) -> None:
    entry = book_payable(partner, 400)
    book_payout(partner, 300)
    reverse(entry)
    assert balance_of(partner, network=BASE, asset=WETH) == Balance(BASE, WETH, owed=-300, available=-300)
    book_payable(partner, 250, final=False)
    found = balance_of(partner, network=BASE, asset=WETH)
    assert found is not None
    assert (found.owed, found.available, found.debt) == (-50, -300, 300)
    with pytest.raises(PayoutRefusedError, match="more than the 0 that are available"):
        book_payout(partner, 1)
    book_payable(partner, 100)
    assert balance(partner) == (50, -200)


def test_settlements_on_chain_never_count(partner: Partner) -> None:
    finalize([book_fee(partner, partner_fee=400).pk])
    assert balances_of(partner) == []
    with pytest.raises(PayoutRefusedError, match="never accrued") as refused:
        book_payout(partner, 1)
    assert refused.value.problem == "never_earned"


def test_balances_are_per_partner_network_and_asset(partner: Partner) -> None:
    book_payable(partner, 400)
    book_payable(partner, 30, asset=USDC)
    book_payable(partner, 5, network="eip155:1")
    book_payable(PartnerFactory.create(), 7)
    book_payout(partner, 400)
    assert balances_of(partner) == [
        Balance("eip155:1", WETH, 5, 5),
        Balance(BASE, WETH, 0, 0),
        Balance(BASE, USDC, 30, 30),
    ]
    with pytest.raises(PayoutRefusedError):
        book_payout(partner, 6, network="eip155:1")


def test_all_balances_are_read_in_one_query(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_payable(partner, 400)
    book_payable(partner, 30, asset=USDC)
    with django_assert_num_queries(1):
        balances_of(partner)
    with django_assert_num_queries(1):
        balance_of(partner, network=BASE, asset=WETH)


def test_sums_above_the_largest_amount_are_exact(partner: Partner) -> None:
    for _ in range(3):
        book_payable(partner, UINT256_MAX // 2)
    assert balance(partner) == (3 * (UINT256_MAX // 2), 3 * (UINT256_MAX // 2))


def test_more_than_available_is_refused_and_says_how_much_is(partner: Partner) -> None:
    book_payable(partner, 400)
    book_payable(partner, 100, final=False)
    with pytest.raises(PayoutRefusedError, match=r"401 units are more than the 400 that are available\.") as refused:
        book_payout(partner, 401)
    assert refused.value.problem == "above_available"
    assert not JournalEntry.objects.filter(kind="payout").exists()


def test_one_hash_is_booked_once_until_it_is_reversed(partner: Partner) -> None:
    book_payable(partner, 400)
    first = book_payout(partner, 100)
    with pytest.raises(PayoutRefusedError, match=f"already booked as a payout to {partner}") as refused:
        book_payout(partner, 100, tx_hash=first.tx_hash)
    assert refused.value.problem == "already_booked"


def test_a_repeated_hash_is_named_as_the_reason_even_if_too_little_is_left(partner: Partner) -> None:
    book_payable(partner, 400)
    first = book_payout(partner, 400)
    with pytest.raises(PayoutRefusedError, match=f"already booked as a payout to {partner}"):
        book_payout(partner, 400, tx_hash=first.tx_hash)


def test_one_transfer_does_not_pay_two_partners_with_the_same_wallet(partner: Partner) -> None:
    twin = PartnerFactory.create(payout_wallet=partner.payout_wallet)
    other = PartnerFactory.create()
    for one in (partner, twin, other):
        book_payable(one, 400)
    first = book_payout(partner, 100)
    with pytest.raises(PayoutRefusedError, match=f"already booked as a payout to {partner}"):
        book_payout(twin, 100, tx_hash=first.tx_hash)
    book_payout(other, 100, tx_hash=first.tx_hash)
    undo_payout(first)
    assert book_payout(twin, 100, tx_hash=first.tx_hash).booking_epoch == 0


def test_only_payouts_that_are_not_reversed_yet_are_reversed_by_hand(partner: Partner) -> None:
    fee = book_payable(partner, 400)
    paid = book_payout(partner, 100)
    reversal = undo_payout(paid)
    for entry, why in ((fee, "Only a payout"), (reversal, "Only a payout"), (paid, "reversed already")):
        with pytest.raises(PayoutRefusedError, match=why) as refused:
            undo_payout(entry)
        assert refused.value.problem == "not_reversible"


@pytest.mark.django_db(transaction=True)
def test_payouts_outside_a_transaction_are_refused(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    with pytest.raises(transaction.TransactionManagementError):
        post_payout(transfer(partner, 1), sender=None, block_number=None, recorded_by="ops", note="")
    with pytest.raises(transaction.TransactionManagementError):
        reverse_payout(paid, recorded_by="ops", note="why")


@pytest.mark.django_db(transaction=True)
def test_a_fee_of_the_partner_is_posted_while_a_payout_holds_the_lock(partner: Partner) -> None:
    book_payable(partner, 400)

    def book_without_waiting() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        book_payable(partner, 7)

    with transaction.atomic():
        post_payout(transfer(partner, 400), sender=None, block_number=None, recorded_by="ops", note="")
        Session(book_without_waiting).join()
        assert balance(partner) == (7, 7)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_payouts_of_all_that_is_available_one_wins(partner: Partner) -> None:
    book_payable(partner, 400)
    raised = at_once(lambda: book_payout(partner, 400), sessions=4)
    assert sorted(type(error).__name__ for error in raised) == ["NoneType"] + ["PayoutRefusedError"] * 3
    assert balance(partner) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_recordings_of_one_hash_one_wins(partner: Partner) -> None:
    book_payable(partner, 400)
    tx_hash = random_hash()
    raised = at_once(lambda: book_payout(partner, 100, tx_hash=tx_hash), sessions=4)
    booked = JournalEntry.objects.get(kind="payout")
    refusal = f"This transaction is already booked as a payout to {partner}, in entry {booked.pk}."
    assert [str(error) for error in raised if error is not None] == [refusal] * 3
    assert balance(partner) == (300, 300)


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_recordings_of_one_transfer_for_partners_with_one_wallet_one_wins(partner: Partner) -> None:
    twins = [partner, *PartnerFactory.create_batch(3, payout_wallet=partner.payout_wallet)]
    for twin in twins:
        book_payable(twin, 400)
    tx_hash = random_hash()
    raised = at_once(lambda: book_payout(twins.pop(), 100, tx_hash=tx_hash), sessions=len(twins))
    booked = JournalEntry.objects.get(kind="payout")
    refusal = f"This transaction is already booked as a payout to {booked.partner}, in entry {booked.pk}."
    assert [str(error) for error in raised if error is not None] == [refusal] * 3


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_reversals_of_one_payout_one_wins(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    raised = at_once(lambda: undo_payout(paid), sessions=4)
    assert sorted(type(error).__name__ for error in raised) == ["NoneType"] + ["PayoutRefusedError"] * 3
    assert balance(partner) == (400, 400)
