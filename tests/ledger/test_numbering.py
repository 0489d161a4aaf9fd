"""Every entry gets one number, in an order that no transaction can change afterwards, however long it took."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from lab.bench.sweeps.copies import without_triggers
from ledger.entries import numbering
from ledger.entries.numbering import number_entries, oldest_waits
from ledger.entries.posting import open_accounts
from ledger.models import EntryNumber, JournalEntry
from partners.models import Partner
from sweepapi import modes
from tests.factories.ledger import BASE, book_fee, post_sweep_fees, sweep_fee
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at
from tests.factories.sweeps import LOCAL
from tests.sessions import Session, at_once, rival_after_query

pytestmark = pytest.mark.django_db(transaction=True)

OTHER_SERVER = 10**12  # ids of transactions that this server does not reach


def numbered() -> list[JournalEntry]:
    """Return the entries in the order of their numbers, which have no gaps."""
    numbers = EntryNumber.objects.order_by("number").select_related("entry")
    assert [one.number for one in numbers] == list(range(1, len(numbers) + 1))
    return [one.entry for one in numbers]


def of_partner(partner: Partner, mode: str = "live") -> list[int]:
    """Return the numbers of a partner's entries, in the order of those of the ledger."""
    numbers = EntryNumber.objects.filter(partner=partner, mode=mode).order_by("number")
    return list(numbers.values_list("partner_number", flat=True))


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def move_to_another_server() -> None:
    """Give the entries ids of transactions that are above those of this server, as a restored dump has them."""
    with without_triggers():
        JournalEntry.objects.filter(posted_in__lt=OTHER_SERVER).update(posted_in=F("posted_in") + OTHER_SERVER)


@contextmanager
def posted_and_not_committed(partner: Partner) -> Iterator[JournalEntry]:
    """Post a fee in another session, whose transaction is open within the block and committed at its end."""
    fee, posted, proceed = sweep_fee(partner), Event(), Event()
    open_accounts([fee])  # for which other sessions would wait

    @transaction.atomic
    def post() -> None:
        execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        post_sweep_fees([fee])
        posted.set()
        proceed.wait()

    session = Session(post)
    posted.wait()
    try:
        yield fee.entry()
    finally:
        proceed.set()
        session.join()


def test_entries_are_numbered_once_in_the_order_of_their_transactions(partner: Partner) -> None:
    other = PartnerFactory.create()
    entries = [book_fee(one) for one in (partner, other, partner, other, other)]
    assert number_entries() == 5
    assert numbered() == entries
    assert (of_partner(partner), of_partner(other)) == ([0, 1], [0, 1, 2])
    entries.append(book_fee(partner))
    assert [number_entries(), number_entries()] == [1, 0]
    assert numbered() == entries
    assert of_partner(partner) == [0, 1, 2]


def test_entries_of_one_transaction_are_numbered_by_their_ids_and_together(partner: Partner) -> None:
    fees = [sweep_fee(partner) for _ in range(5)]
    with transaction.atomic():
        post_sweep_fees(reversed(fees))
        assert number_entries() == 0
    assert number_entries() == 5
    assert [entry.pk for entry in numbered()] == sorted(fee.entry_id for fee in fees)
    assert EntryNumber.objects.values("numbered_at").distinct().count() == 1


def test_a_number_waits_for_every_transaction_that_began_to_write_before(partner: Partner) -> None:
    first = book_fee(partner)
    with posted_and_not_committed(partner) as slow:
        later = book_fee(partner)
        assert number_entries() == 1
        assert numbered() == [first]
    assert number_entries() == 2
    assert numbered() == [first, slow, later]


def test_who_reads_up_to_the_last_number_again_and_again_misses_no_entry(partner: Partner) -> None:
    seen: list[JournalEntry] = []

    def read() -> None:
        number_entries()
        after = len(seen)
        seen.extend(one.entry for one in EntryNumber.objects.filter(number__gt=after).order_by("number"))

    with posted_and_not_committed(partner):
        book_fee(partner)
        read()
        with posted_and_not_committed(partner):
            book_fee(partner)
            read()
        read()
    read()
    assert sorted(entry.pk for entry in seen) == sorted(JournalEntry.objects.values_list("pk", flat=True))
    assert len(seen) == 4


def test_a_transaction_that_is_rolled_back_leaves_no_gap(partner: Partner) -> None:
    with transaction.atomic():
        post_sweep_fees([sweep_fee(partner)])
        transaction.set_rollback(True)
    entry = book_fee(partner)
    assert number_entries() == 1
    assert numbered() == [entry]


@pytest.mark.parametrize(
    "number", [1, 2, 3]
)  # once it has the lock; once it knows the last number; once it has written
def test_while_one_session_numbers_another_does_nothing(partner: Partner, number: int) -> None:
    entries = [book_fee(partner) for _ in range(3)]
    counts: list[int] = []
    with rival_after_query(lambda: counts.append(number_entries()), number=number):
        assert number_entries() == 3
    assert counts == [0]
    assert numbered() == entries


def test_sessions_that_number_at_the_same_time_give_each_entry_one_number(partner: Partner) -> None:
    entries = [book_fee(partner) for _ in range(20)]
    assert at_once(number_entries, sessions=4) == [None] * 4
    assert numbered() == entries


def test_many_entries_are_numbered_in_several_transactions_in_the_same_order(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "ENTRIES_AT_ONCE", 2)
    fees = [sweep_fee(partner) for _ in range(3)]
    entries = [book_fee(partner)]
    with transaction.atomic():
        post_sweep_fees(fees)
    entries += JournalEntry.objects.filter(pk__in=[fee.entry_id for fee in fees]).order_by("pk")
    entries.append(book_fee(partner))
    assert number_entries() == 5
    assert numbered() == entries
    assert of_partner(partner) == list(range(5))


def test_the_time_of_a_number_is_the_databases_and_never_earlier_than_that_of_the_one_before(partner: Partner) -> None:
    future = timezone.now() + timedelta(days=1)
    fee_at(future, partner, 1)
    entry = book_fee(partner)
    number_entries()
    assert entry.numbered.numbered_at == future


def test_an_entry_is_numbered_at_or_after_the_time_at_which_it_was_posted(partner: Partner) -> None:
    entry = book_fee(partner)
    number_entries()
    assert entry.posted_at <= entry.numbered.numbered_at <= entry.posted_at + timedelta(minutes=5)


def test_sandbox_networks_have_an_order_of_their_own(partner: Partner) -> None:
    entries = [book_fee(partner, network=network) for network in (BASE, LOCAL, BASE, LOCAL)]
    number_entries()
    assert numbered() == entries
    assert (of_partner(partner, modes.Mode.LIVE), of_partner(partner, modes.Mode.TEST)) == ([0, 1], [0, 1])


# --- tables that were restored into another server -------------------------------------------------------------------


def test_after_a_restore_into_a_server_with_lower_ids_of_transactions_every_entry_is_numbered(partner: Partner) -> None:
    entries = [book_fee(partner)]
    number_entries()
    entries.append(book_fee(partner))  # has no number when the dump is made
    move_to_another_server()
    entries.append(book_fee(partner))
    assert [number_entries() for _ in range(3)] == [1, 1, 0]
    assert numbered() == entries
    entries.append(book_fee(partner))
    assert number_entries() == 1
    assert numbered() == entries


def test_after_such_a_restore_a_number_waits_for_slow_transactions_as_before(partner: Partner) -> None:
    first = book_fee(partner)
    number_entries()
    move_to_another_server()
    with posted_and_not_committed(partner) as slow:
        later = book_fee(partner)
        assert number_entries() == 0
    assert number_entries() == 2
    assert numbered() == [first, slow, later]


def test_old_entries_among_the_ids_of_new_transactions_are_not_numbered_again(partner: Partner) -> None:
    entries = [book_fee(partner) for _ in range(3)]
    number_entries()
    # The last number belongs to another server; the others could be of this one.
    with without_triggers():
        JournalEntry.objects.filter(pk=entries[2].pk).update(posted_in=OTHER_SERVER)
    entries.append(book_fee(partner))
    assert number_entries() == 1
    assert numbered() == entries


# --- what it costs, and how it is watched -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 30])
def test_numbering_takes_as_many_statements_however_many_entries_there_are(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    for _ in range(count):
        book_fee(partner)
    with django_assert_num_queries(5):  # BEGIN, the lock, the last number, the new ones, COMMIT
        assert number_entries() == count


def test_the_oldest_entry_without_a_number_is_known(partner: Partner) -> None:
    assert oldest_waits() == timedelta(0)
    with posted_and_not_committed(partner):
        book_fee(partner)
        number_entries()
        assert timedelta(0) < oldest_waits() < timedelta(minutes=5)
    number_entries()
    assert oldest_waits() == timedelta(0)
    move_to_another_server()
    assert oldest_waits() == timedelta(0)
    book_fee(partner)
    assert oldest_waits() > timedelta(0)


# --- what the database itself refuses ---------------------------------------------------------------------------------


def place(entry: JournalEntry, **facts: object) -> None:
    """Store a number by hand: the next one, unless the facts differ."""
    count = EntryNumber.objects.count()
    latest = EntryNumber.objects.order_by("number").last()
    defaults = {
        "number": count + 1,
        "partner": entry.partner,
        "mode": "live",
        "partner_number": count,
        "numbered_at": timezone.now() if latest is None else latest.numbered_at,
    }
    EntryNumber.objects.create(entry=entry, **(defaults | facts))


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"number": 3}, "number 3 follows none"),
        ({"numbered_at": timezone.now() - timedelta(days=1)}, "number 2 follows none, or a later one"),
        ({"partner_number": 2}, "number 2 of the partner follows none"),
        ({"mode": "test"}, "number 1 of the partner follows none"),
        ({"number": 1}, "ledger_entrynumber_pkey"),
        ({"number": 0}, "entry_number_counts_up"),
        ({"partner_number": 0}, "entry_number_of_partner"),
        ({"partner_number": -1}, "entry_number_counts_up"),
        ({"mode": "none", "partner_number": 0}, "entry_number_mode_known"),
    ],
)
def test_the_database_refuses_a_number_that_is_not_the_next(
    partner: Partner, facts: dict[str, object], why: str
) -> None:
    place(book_fee(partner))
    entry = book_fee(partner)
    with pytest.raises(IntegrityError, match=why):
        place(entry, **facts)
    place(entry)


def test_the_database_refuses_a_second_number_for_an_entry_and_that_of_another_partner(partner: Partner) -> None:
    first, second = book_fee(partner), book_fee(partner)
    place(first)
    with pytest.raises(IntegrityError, match="entry_id"):
        place(first)
    with pytest.raises(IntegrityError, match="of another partner"):
        place(second, partner=PartnerFactory.create(), partner_number=0)


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger_entrynumber SET numbered_at = now()", "DELETE FROM ledger_entrynumber"]
)
def test_a_number_is_never_changed_or_deleted(partner: Partner, statement: str) -> None:
    place(book_fee(partner))
    with pytest.raises(IntegrityError, match="ledger_entrynumber is append-only"):
        execute(statement)
