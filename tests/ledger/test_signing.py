"""Each month of a tree is signed once, when it is over; nothing is added to it then, whatever is committed late."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.utils import timezone
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from lab.bench.sweeps.copies import without_triggers
from ledger.entries.numbering import number_entries
from ledger.models import Checkpoint, EntryNumber, JournalEntry, StatementEra, SubtreeHash
from ledger.proofs import checkpoints, signing, trees
from ledger.proofs.checkpoints import checkpoint_of, oldest_waits
from ledger.proofs.signing import sign_months
from ledger.proofs.trees import Tree, TreeDiffersError
from ledger.statements.month import Month
from partners.models import Partner
from sweepapi.modes import Mode
from tests.factories.ledger import BASE, WETH, book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, reversal_at
from tests.factories.sweeps import LOCAL
from tests.ledger.test_numbering import posted_and_not_committed
from tests.sessions import Session, at_once, rival_after_query

pytestmark = pytest.mark.django_db(transaction=True)

MARCH, APRIL, MAY, JUNE = (Month(2026, number) for number in (3, 4, 5, 6))
OTHER = "0x00000000000000000000000000000000000000C1"
Clock = Callable[[datetime], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Sets the time by which months end."""
    return lambda time: monkeypatch.setattr(checkpoints, "database_time", lambda: time)


def signed(partner: Partner, mode: Mode = Mode.LIVE) -> list[tuple[str, int]]:
    """Return the months that were signed, with the sizes of the tree."""
    return list(Checkpoint.objects.filter(partner=partner, mode=mode).order_by("month").values_list("month", "size"))


def test_each_month_since_the_first_entry_is_signed_once_also_those_without_entries(
    partner: Partner, clock: Clock
) -> None:
    other = PartnerFactory.create()
    fee_at(MARCH.start, partner, 1)
    fee_at(MARCH.end - timedelta(microseconds=1), partner, 1)
    fee_at(APRIL.start, other, 1, network=LOCAL)
    fee_at(MAY.start, partner, 1)
    clock(MAY.end + timedelta(minutes=5))
    sign_months()
    assert signed(partner) == [("2026-03", 2), ("2026-04", 2), ("2026-05", 3)]
    assert (signed(partner, Mode.TEST), signed(other)) == ([], [])
    assert signed(other, Mode.TEST) == [("2026-04", 1), ("2026-05", 1)]
    before = list(Checkpoint.objects.order_by("id").values())
    sign_months()
    assert list(Checkpoint.objects.order_by("id").values()) == before


def test_a_month_is_signed_only_when_no_entry_can_be_added_to_it(partner: Partner, clock: Clock) -> None:
    fee_at(APRIL.start, partner, 1)
    clock(APRIL.end + timedelta(minutes=5) - timedelta(microseconds=1))
    sign_months()
    assert signed(partner) == []
    clock(APRIL.end + timedelta(minutes=5))
    sign_months()
    assert signed(partner) == [("2026-04", 1)]


def test_an_entry_that_is_committed_after_its_month_was_signed_belongs_to_the_next(
    partner: Partner, clock: Clock
) -> None:
    """Also if the clock is set back, or was fast when the month was signed, as it is here."""
    month = Month.of(timezone.now())
    book_fee(partner)
    number_entries()
    with posted_and_not_committed(partner) as slow:
        clock(month.end + timedelta(minutes=6))
        sign_months()
    book_fee(partner)
    assert number_entries() == 2
    late = EntryNumber.objects.select_related("entry").get(entry=slow)
    assert (Month.of(late.entry.posted_at), late.numbered_at, late.partner_number) == (month, month.end, 1)
    assert checkpoint_of(Tree(partner.id, Mode.LIVE), month).size == 1
    clock(month.end + timedelta(days=40))
    sign_months()
    assert signed(partner) == [(str(month), 1), (str(month.shifted(1)), 3)]


@pytest.mark.parametrize("query", [1, 2])  # once it has the lock; once it knows the time
def test_no_entry_is_numbered_while_the_end_of_a_month_is_decided(partner: Partner, query: int) -> None:
    book_fee(partner)
    counts: list[int] = []
    with rival_after_query(lambda: counts.append(number_entries()), number=query):
        checkpoints.last_month()
    assert counts == [0]
    assert number_entries() == 1


@pytest.mark.parametrize("place", ["signed_note", "hold_numbers"])  # before the lock is held; once it is
def test_an_entry_that_is_numbered_while_its_month_is_signed_is_in_the_checkpoint_or_in_the_next_month(
    partner: Partner, clock: Clock, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The clock is set back once the month was found to be over; here it was fast before."""
    month = Month.of(timezone.now())
    book_fee(partner)
    number_entries()
    counts: list[int] = []

    def number_another() -> None:
        book_fee(partner)
        counts.append(number_entries())

    def with_rival(*arguments: Any, **facts: Any) -> Any:
        result = original(*arguments, **facts)
        if not counts:
            Session(number_another).join()
        return result

    original = getattr(signing, place)
    monkeypatch.setattr(signing, place, with_rival)
    clock(month.end + timedelta(minutes=6))
    sign_months()
    is_first = place == "signed_note"
    assert (counts, signed(partner)) == ([1], []) if is_first else ([0], [(str(month), 1)])
    sign_months()
    number_entries()
    assert checkpoint_of(Tree(partner.id, Mode.LIVE), month).size == (2 if is_first else 1)
    assert Month.of(EntryNumber.objects.order_by("number")[1].numbered_at) == (month if is_first else month.shifted(1))


def test_sessions_that_sign_at_the_same_time_sign_each_month_once(
    partner: Partner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LEVELS", (1, 2))
    for month in (APRIL, MAY):
        for minutes in range(4):
            fee_at(month.start + timedelta(minutes=minutes), partner, 1)
    clock(MAY.end + timedelta(days=1))
    assert at_once(sign_months, sessions=4) == [None] * 4
    assert signed(partner) == [("2026-04", 4), ("2026-05", 8)]
    assert SubtreeHash.objects.count() == 6
    assert checkpoint_of(Tree(partner.id, Mode.LIVE), MAY).size == 8


def test_trees_that_have_much_to_grow_are_signed_once_they_have_grown_and_the_others_at_once(
    partner: Partner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LEVELS", (1, 2))
    monkeypatch.setattr(signing, "SUBTREES_AT_ONCE", 4)
    second, small = PartnerFactory.create(), PartnerFactory.create()
    for minutes in range(8):
        fee_at(APRIL.start + timedelta(minutes=minutes), partner, 1)
        fee_at(APRIL.start + timedelta(minutes=minutes), second, 1)
    fee_at(APRIL.end - timedelta(days=1), small, 1)
    clock(APRIL.end + timedelta(days=1))
    counts = []
    for _ in range(4):
        sign_months()
        many = sorted(len(signed(one)) for one in (partner, second))
        counts.append((SubtreeHash.objects.count(), many, len(signed(small))))
    assert counts == [(4, [0, 0], 1), (8, [0, 1], 1), (12, [1, 1], 1), (12, [1, 1], 1)]
    assert {checkpoint_of(Tree(one.id, Mode.LIVE), APRIL).size for one in (partner, second)} == {8}


def test_the_totals_of_a_month_are_the_sums_of_all_its_entries_and_of_no_others(
    partner: Partner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "ENTRIES_AT_ONCE", 2)
    fee_at(MARCH.start, partner, 1_000)
    entries = [fee_at(APRIL.start, partner, amount) for amount in (1, 2, 3)]
    reversal_at(APRIL.start, entries[0])
    fee_at(APRIL.start, partner, 5, asset=OTHER)
    fee_at(MAY.start, partner, 1_000)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    names = ("network", "token", "account", "debit", "credit")
    totals = Checkpoint.objects.get(partner=partner, month="2026-04").totals
    assert [tuple(one[name] for name in names) for one in totals] == [
        (BASE, OTHER, "fees_charged", "10", "0"),
        (BASE, OTHER, "partner_payable", "0", "5"),
        (BASE, OTHER, "protocol_revenue", "0", "5"),
        (BASE, WETH, "fees_charged", "12", "2"),
        (BASE, WETH, "partner_payable", "1", "6"),
        (BASE, WETH, "protocol_revenue", "1", "6"),
    ]


def test_the_oldest_month_that_is_over_and_not_signed_says_how_long_it_waits(partner: Partner, clock: Clock) -> None:
    assert oldest_waits() == timedelta()
    fee_at(APRIL.start, partner, 1)
    fee_at(MAY.start, PartnerFactory.create(), 1)
    clock(APRIL.end + timedelta(minutes=5))
    assert oldest_waits() == timedelta()
    clock(MAY.end + timedelta(minutes=5, seconds=9))
    assert oldest_waits() == MAY.end - APRIL.end + timedelta(seconds=9)
    sign_months()
    assert oldest_waits() == timedelta()


# --- entries that are not those that were signed ----------------------------------------------------------------------


def rewrite(entry: JournalEntry) -> None:
    """Change an entry as only the owner of the tables can."""
    with without_triggers():
        JournalEntry.objects.filter(pk=entry.pk).update(tx_hash="0x" + "11" * 32)


def test_a_tree_that_was_rewritten_is_reported_and_not_signed_any_more_and_the_others_are(
    partner: Partner, clock: Clock
) -> None:
    other = PartnerFactory.create()
    entry = fee_at(APRIL.start, partner, 1)
    fee_at(APRIL.start, other, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    rewrite(entry)
    clock(MAY.end + timedelta(days=1))
    with capture_logs() as logs:
        sign_months()
    assert REGISTRY.get_sample_value("sweepapi_statements_differing_trees") == 1
    assert [(one["event"], one["partner_id"], one["month"]) for one in logs] == [
        ("statement_differs", str(partner.id), "2026-04")
    ]
    assert (signed(partner), signed(other)) == ([("2026-04", 1)], [("2026-04", 1), ("2026-05", 1)])
    with pytest.raises(TreeDiffersError):
        checkpoint_of(Tree(partner.id, Mode.LIVE), APRIL)


def test_a_tree_is_signed_again_once_its_entries_are_those_that_were_signed(partner: Partner, clock: Clock) -> None:
    entry = fee_at(APRIL.start, partner, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    rewrite(entry)
    clock(MAY.end + timedelta(days=1))
    sign_months()
    with without_triggers():
        JournalEntry.objects.filter(pk=entry.pk).update(tx_hash=entry.tx_hash)
    sign_months()
    assert REGISTRY.get_sample_value("sweepapi_statements_differing_trees") == 0
    assert signed(partner) == [("2026-04", 1), ("2026-05", 1)]


def lose(partner: Partner, number: int) -> None:
    """Delete the number of an entry as only the owner of the tables can."""
    with without_triggers():
        EntryNumber.objects.filter(partner=partner, partner_number=number).delete()


@pytest.mark.parametrize(("number", "event"), [(2, "statement_differs"), (1, "tree_incomplete")])
def test_a_tree_that_lost_a_signed_entry_is_reported_and_keeps_no_other_from_being_signed(
    partner: Partner, clock: Clock, number: int, event: str
) -> None:
    others = [PartnerFactory.create() for _ in range(3)]
    for owner in (partner, partner, partner, *others):
        fee_at(APRIL.start, owner, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    lose(partner, number)
    clock(MAY.end + timedelta(days=1))
    with capture_logs() as logs:
        sign_months()
    assert [(one["event"], one["partner_id"]) for one in logs] == [(event, str(partner.id))]
    assert REGISTRY.get_sample_value("sweepapi_statements_differing_trees") == 1
    assert signed(partner) == [("2026-04", 3)]
    assert {len(signed(other)) for other in others} == {2}


@pytest.mark.parametrize("number", [0, 1])
def test_a_tree_that_lost_an_entry_before_it_grew_is_reported_and_not_signed(
    partner: Partner, clock: Clock, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(trees, "LEVELS", (1, 2))
    for _ in range(3):
        fee_at(APRIL.start, partner, 1)
    lose(partner, number)
    clock(APRIL.end + timedelta(days=1))
    with capture_logs() as logs:
        sign_months()
    assert [(one["event"], one["index"]) for one in logs] == [("tree_incomplete", number)]
    assert (signed(partner), SubtreeHash.objects.count()) == ([], 0)


def test_an_entry_that_appeared_in_a_signed_month_is_reported(partner: Partner, clock: Clock) -> None:
    fee_at(APRIL.start, partner, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    fee_at(APRIL.end - timedelta(seconds=1), partner, 1)  # by hand; the sequencer does not
    with pytest.raises(TreeDiffersError):
        checkpoint_of(Tree(partner.id, Mode.LIVE), APRIL)


def test_a_checkpoint_is_never_changed(partner: Partner, clock: Clock) -> None:
    fee_at(APRIL.start, partner, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    with pytest.raises(IntegrityError, match="append-only"):
        Checkpoint.objects.update(note="another")
    with pytest.raises(IntegrityError, match="append-only"):
        Checkpoint.objects.all().delete()


# --- eras -------------------------------------------------------------------------------------------------------------


def origins(partner: Partner) -> list[str]:
    notes = Checkpoint.objects.filter(partner=partner).order_by("month").values_list("note", flat=True)
    return [note.partition("\n")[0] for note in notes]


def test_after_an_era_was_begun_months_are_signed_under_its_name(partner: Partner, clock: Clock) -> None:
    fee_at(APRIL.start, partner, 1)
    clock(APRIL.end + timedelta(days=1))
    sign_months()
    call_command("begin_statement_era", reason="the backup of the night was restored")
    clock(MAY.end + timedelta(days=1))
    sign_months()
    call_command("begin_statement_era", reason="another one")
    clock(JUNE.end + timedelta(days=1))
    sign_months()
    names = [f"{era.begun_at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}" for era in StatementEra.objects.order_by("id")]
    assert origins(partner) == [f"sweepapi/{partner.id}/live/{era}" for era in ["0", *names]]
    assert len(set(names)) == 2


def test_the_command_says_the_name_and_wants_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("begin_statement_era", reason="a backup")
    assert StatementEra.objects.get().name in capsys.readouterr().out
    with pytest.raises(CommandError, match="Say which backup"):
        call_command("begin_statement_era", reason=" ")
    assert StatementEra.objects.count() == 1
