"""Posting is exact about its preconditions, cheap, and safe when two sessions post at once."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from ledger.models import Account, JournalEntry
from ledger.posting import post_sweep_fee, reverse
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, book_fee, random_hash


@pytest.mark.django_db
@pytest.mark.parametrize(("total_fee", "partner_fee"), [(10, 11), (10, -1), (-1, 0), (0, 1)])
def test_a_partner_fee_is_a_part_of_the_total(partner: Partner, total_fee: int, partner_fee: int) -> None:
    with pytest.raises(ValueError, match="no part of a total fee"):
        book_fee(partner, total_fee=total_fee, partner_fee=partner_fee)


@pytest.mark.django_db
def test_an_incarnation_is_booked_once(partner: Partner) -> None:
    entry = book_fee(partner)
    with pytest.raises(IntegrityError, match="entry_is_posted_once"):
        book_fee(partner, sweep_ref=entry.sweep_ref)


@pytest.mark.django_db
def test_an_entry_is_reversed_once(partner: Partner) -> None:
    sweep_ref = uuid4()
    book_fee(partner, sweep_ref=sweep_ref)
    reverse(sweep_ref=sweep_ref, incarnation=0, tx_hash=random_hash())
    with pytest.raises(IntegrityError):
        reverse(sweep_ref=sweep_ref, incarnation=0, tx_hash=random_hash())


@pytest.mark.django_db
def test_posting_to_known_accounts_asks_three_times(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_fee(partner)
    with django_assert_num_queries(5):  # a savepoint and its release, entry, accounts, postings
        book_fee(partner)


@pytest.mark.django_db
def test_reversing_asks_four_times(partner: Partner, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    sweep_ref = uuid4()
    book_fee(partner, sweep_ref=sweep_ref)
    with django_assert_num_queries(4):  # the original, its postings, the entry, the postings
        reverse(sweep_ref=sweep_ref, incarnation=0, tx_hash=random_hash())


@pytest.mark.django_db(transaction=True)
def test_posting_outside_a_transaction_is_refused(partner: Partner) -> None:
    with pytest.raises(transaction.TransactionManagementError):
        post_sweep_fee(
            sweep_ref=uuid4(),
            incarnation=0,
            partner=partner,
            chain_id=BASE,
            token=WETH,
            tx_hash=random_hash(),
            total_fee=1,
            partner_fee=0,
            settled_on_chain=True,
        )
    with pytest.raises(transaction.TransactionManagementError):
        reverse(sweep_ref=uuid4(), incarnation=0, tx_hash=random_hash())


def at_once(work: Callable[[], Any], *, sessions: int) -> list[BaseException | None]:
    """Run the work in as many database sessions at the same time; return what each raised."""
    start = threading.Barrier(sessions)
    raised: list[BaseException | None] = [None] * sessions

    def run(index: int) -> None:
        try:
            connection.ensure_connection()
            start.wait()
            work()
        except IntegrityError as error:
            raised[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[index]) for index in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.django_db(transaction=True)
def test_of_sessions_posting_the_same_incarnation_at_once_one_wins(partner: Partner) -> None:
    sweep_ref = uuid4()
    raised = at_once(lambda: book_fee(partner, sweep_ref=sweep_ref), sessions=4)
    assert sorted(type(error).__name__ for error in raised) == ["IntegrityError"] * 3 + ["NoneType"]
    assert JournalEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_sessions_needing_the_same_new_accounts_at_once_all_post(partner: Partner) -> None:
    assert at_once(lambda: book_fee(partner), sessions=8) == [None] * 8
    assert JournalEntry.objects.count() == 8
    assert sorted(Account.objects.values_list("name", flat=True)) == [
        "fees_charged",
        "partner_settled",
        "protocol_revenue",
    ]
