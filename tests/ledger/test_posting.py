"""Posting checks its preconditions, costs few queries, and is safe when two sessions post at the same time."""

from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from ledger.entries.posting import reverse
from ledger.models import Account, JournalEntry
from partners.models import Partner
from tests.factories.ledger import book_fee, post_sweep_fees, sweep_fee
from tests.sessions import at_once


@pytest.mark.django_db
@pytest.mark.parametrize(("total_fee", "partner_fee"), [(10, 11), (10, -1), (-1, 0), (0, 1)])
def test_a_partner_fee_is_part_of_the_total(partner: Partner, total_fee: int, partner_fee: int) -> None:
    with pytest.raises(ValueError, match="not part of a total fee"):
        sweep_fee(partner, total_fee=total_fee, partner_fee=partner_fee)


@pytest.mark.django_db
def test_an_epoch_of_an_execution_is_booked_once(partner: Partner) -> None:
    entry = book_fee(partner)
    with pytest.raises(IntegrityError, match="entry_is_posted_once"):
        book_fee(partner, sweep_ref=entry.sweep_ref, execution_ref=entry.execution_ref)


@pytest.mark.django_db
def test_each_execution_of_a_sweep_is_booked_by_itself(partner: Partner) -> None:
    sweep_ref = uuid4()
    first, second = book_fee(partner, sweep_ref=sweep_ref), book_fee(partner, sweep_ref=sweep_ref)
    reverse(first)
    connection.check_constraints()
    assert not JournalEntry.objects.filter(reverses=second).exists()
    assert JournalEntry.objects.filter(sweep_ref=sweep_ref).count() == 3


@pytest.mark.django_db
def test_an_entry_is_reversed_once(partner: Partner) -> None:
    entry = book_fee(partner)
    reverse(entry)
    with pytest.raises(IntegrityError, match="reverses_id"):
        reverse(entry)


@pytest.mark.django_db
def test_a_reversal_is_not_reversed(partner: Partner) -> None:
    reversal = reverse(book_fee(partner))
    with pytest.raises(IntegrityError):
        reverse(reversal)


@pytest.mark.django_db
def test_posting_to_existing_accounts_takes_three_queries_however_many_fees_there_are(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_fee(partner)
    with django_assert_num_queries(2):  # accounts, entries with postings
        post_sweep_fees([sweep_fee(partner) for _ in range(3)])


@pytest.mark.django_db
def test_reversing_takes_four_queries(partner: Partner, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    entry = book_fee(partner)
    with django_assert_num_queries(4):  # the partner's lock, the entry, the original's postings, the postings
        reverse(entry)


@pytest.mark.django_db(transaction=True)
def test_posting_outside_a_transaction_is_refused(partner: Partner) -> None:
    entry = book_fee(partner)
    with pytest.raises(transaction.TransactionManagementError):
        post_sweep_fees([sweep_fee(partner)])
    with pytest.raises(transaction.TransactionManagementError):
        reverse(entry)


@pytest.mark.django_db(transaction=True)
def test_one_of_several_concurrent_sessions_posts_an_epoch(partner: Partner) -> None:
    execution_ref = uuid4()
    raised = at_once(lambda: book_fee(partner, execution_ref=execution_ref), sessions=4)
    assert sorted(type(error).__name__ for error in raised) == ["IntegrityError"] * 3 + ["NoneType"]
    assert JournalEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_sessions_can_create_the_same_accounts(partner: Partner) -> None:
    assert at_once(lambda: book_fee(partner), sessions=8) == [None] * 8
    assert JournalEntry.objects.count() == 8
    assert sorted(Account.objects.values_list("name", flat=True)) == [
        "fees_charged",
        "partner_settled",
        "protocol_revenue",
    ]
