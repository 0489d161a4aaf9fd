"""PostgreSQL itself refuses everything that is not double entry, raw SQL included."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pgtrigger
import pytest
from django.db import IntegrityError, connection, transaction

from ledger import triggers
from ledger.entries.posting import finalize
from ledger.models import Account, JournalEntry, Payout, Posting
from partners.models import Partner
from sweepapi.postgres.clock import database_time
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, reversal_at, switched_off

pytestmark = pytest.mark.django_db

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ADDRESS = "0x00000000000000000000000000000000000000A1"
ABOUT_NO_SWEEP: dict[str, Any] = {"sweep_ref": None, "execution_ref": None, "recorded_by": "ops"}


@contextmanager
def checked() -> Iterator[None]:
    """Run the checks that are deferred to commit at the end of the block."""
    yield
    connection.check_constraints()


@contextmanager
def refused(why: str) -> Iterator[None]:
    """Expect the block, or the checks deferred to commit, to be refused for this reason."""
    with pytest.raises(IntegrityError, match=why), transaction.atomic(), checked():
        yield


def execute(statement: str, *params: int | str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


@pytest.fixture
def entry(partner: Partner) -> Callable[..., JournalEntry]:
    """Return a maker of journal entries without postings."""

    def make(**facts: Any) -> JournalEntry:
        defaults: dict[str, Any] = {
            "kind": "sweep_fee",
            "sweep_ref": uuid4(),
            "execution_ref": uuid4(),
            "booking_epoch": 0,
            "partner": partner,
            "network": BASE,
            "asset": WETH,
            "tx_hash": random_hash(),
        }
        return JournalEntry.objects.create(**(defaults | facts))

    return make


@pytest.fixture
def payout(entry: Callable[..., JournalEntry], partner: Partner) -> Callable[..., JournalEntry]:
    """Return a maker of balanced payouts."""

    def make(**facts: Any) -> JournalEntry:
        made = entry(**({"kind": "payout", **ABOUT_NO_SWEEP} | facts))
        post(made, account("partner_payable", partner), 5)
        post(made, account("partner_paid", partner), -5)
        return made

    return make


def account(name: str, partner: Partner | None = None, *, network: str = BASE, asset: str = WETH) -> Account:
    found, _ = Account.objects.get_or_create(name=name, partner=partner, network=network, asset=asset)
    return found


def mirrored(original: JournalEntry) -> dict[str, Any]:
    """Return the facts of an entry that reverses this one."""
    refs = {"sweep_ref": original.sweep_ref, "execution_ref": original.execution_ref}
    return {"kind": "reversal", "reverses": original, **refs}


def post(entry: JournalEntry, on: Account, amount: int) -> Posting:
    return Posting.objects.create(entry=entry, account=on, amount=amount)


def test_an_entry_without_postings_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("has 0 postings"):
        entry()


def test_an_entry_with_one_posting_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("has 1 postings"):
        post(entry(), account("fees_charged"), 5)


@pytest.mark.parametrize("credit", [-4, -6, 5])
def test_an_entry_out_of_balance_is_refused(entry: Callable[..., JournalEntry], credit: int) -> None:
    with refused("out of balance"):
        made = entry()
        post(made, account("fees_charged"), 5)
        post(made, account("protocol_revenue"), credit)


def test_balance_is_exact_at_the_size_of_a_uint256(entry: Callable[..., JournalEntry]) -> None:
    with refused("out of balance by 1"):
        made = entry()
        post(made, account("fees_charged"), 2**256 - 1)
        post(made, account("protocol_revenue"), -(2**256 - 2))


def test_a_posting_that_unbalances_an_already_checked_entry_is_refused(partner: Partner) -> None:
    with refused("out of balance"):
        booked = book_fee(partner)
        connection.check_constraints()
        post(booked, account("fees_charged"), 5)


def test_a_posting_of_zero_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("posting_is_never_zero"):
        post(entry(), account("fees_charged"), 0)


@pytest.mark.parametrize(("network", "asset"), [("eip155:1", WETH), (BASE, USDC)])
def test_an_account_of_another_asset_is_refused(entry: Callable[..., JournalEntry], network: str, asset: str) -> None:
    with refused("of another asset"):
        post(entry(), account("fees_charged", network=network, asset=asset), 5)


def test_an_account_of_another_partner_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("of another partner"):
        post(entry(), account("partner_settled", PartnerFactory.create()), 5)


def test_postings_may_be_made_in_savepoints_of_their_entrys_transaction(entry: Callable[..., JournalEntry]) -> None:
    made = entry()
    for name, amount in (("fees_charged", 5), ("protocol_revenue", -5)):
        with transaction.atomic():
            post(made, account(name), amount)
    connection.check_constraints()
    assert made.postings.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_balanced_pair_added_in_a_later_transaction_is_refused(partner: Partner) -> None:
    booked = book_fee(partner)
    with refused("is closed"):
        post(booked, account("fees_charged"), 5)
        post(booked, account("protocol_revenue"), -5)


@pytest.mark.django_db(transaction=True)
def test_the_transaction_of_an_entry_cannot_be_forged(partner: Partner) -> None:
    """The database overwrites whatever an INSERT gives as the transaction's id."""
    booked = book_fee(partner)
    with transaction.atomic():
        copy = JournalEntry.objects.get(pk=booked.pk)
        copy.pk, copy.execution_ref, copy.posted_in = uuid4(), uuid4(), booked.pk.int % 2**31
        copy.save(force_insert=True)
        post(copy, account("fees_charged"), 5)
        post(copy, account("protocol_revenue"), -5)
    assert JournalEntry.objects.get(pk=copy.pk).posted_in > JournalEntry.objects.get(pk=booked.pk).posted_in


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_account SET id = id",
        "UPDATE ledger_asset SET id = id",
        "UPDATE ledger_journalentry SET id = id",
        "UPDATE ledger_posting SET id = id",
        "UPDATE ledger_finality SET final_at = final_at",
        "UPDATE ledger_payout SET sender = sender",
        "DELETE FROM ledger_account",
        "DELETE FROM ledger_asset",
        "DELETE FROM ledger_journalentry",
        "DELETE FROM ledger_posting",
        "DELETE FROM ledger_finality",
        "DELETE FROM ledger_payout",
    ],
)
def test_booked_rows_are_neither_updated_nor_deleted(partner: Partner, statement: str) -> None:
    book_payable(partner, 400)
    book_payout(partner, 100)
    with refused("append-only"):
        execute(statement)


def test_only_a_fee_is_final(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 100)
    with refused("is not a sweep_fee"):
        finalize([paid.pk])


def test_only_a_payout_has_the_facts_of_one(partner: Partner) -> None:
    fee = book_fee(partner)
    with refused("is not a payout"):
        Payout.objects.create(entry=fee, recipient=partner.payout_wallet)


@pytest.mark.parametrize("checked", [{"sender": ADDRESS}, {"block_number": 5}])
def test_a_payout_has_sender_and_block_or_neither(payout: Callable[..., JournalEntry], checked: dict[str, Any]) -> None:
    made = payout()
    with refused("payout_is_checked_or_not"):
        Payout.objects.create(entry=made, recipient=ADDRESS, **checked)


def test_a_session_cannot_skip_the_triggers(partner: Partner) -> None:
    """django-pgtrigger lets a session ignore triggers, which the ledger disables."""
    book_fee(partner)
    with pgtrigger.ignore(), refused("append-only"):
        Posting.objects.update(amount=1)


def test_an_account_without_a_partner_exists_once() -> None:
    account("fees_charged")
    with refused("account_is_unique"):
        execute("INSERT INTO ledger_account (network, asset, name) VALUES (%s, %s, 'fees_charged')", BASE, WETH)


@pytest.mark.parametrize(("name", "with_partner"), [("fees_charged", True), ("partner_paid", False)])
def test_an_account_has_a_partner_exactly_if_its_name_says_so(partner: Partner, name: str, with_partner: bool) -> None:  # noqa: FBT001
    with refused("account_name_says_if_it_has_a_partner"):
        account(name, partner if with_partner else None)


def test_an_account_with_an_unknown_name_is_refused() -> None:
    with refused("account_name_is_known"):
        account("slush_fund")


@pytest.mark.parametrize(
    "facts",
    [
        {"sweep_ref": None},
        {"execution_ref": None},
        {"kind": "payout", "recorded_by": "ops"},
        {"kind": "payout", "recorded_by": "ops", "sweep_ref": None},
        {"kind": "payout", "recorded_by": "ops", "execution_ref": None},
        {"kind": "bonus"},
    ],
)
def test_an_entry_names_its_execution_exactly_if_it_is_about_one(
    entry: Callable[..., JournalEntry], facts: dict[str, Any]
) -> None:
    with refused("entry_names_its_execution|entry_names_what_it_reverses|entry_names_who_recorded_it"):
        entry(**facts)


@pytest.mark.parametrize(
    "facts",
    [
        {"recorded_by": "ops"},
        {"note": "why"},
        {"kind": "payout", **ABOUT_NO_SWEEP, "recorded_by": ""},
        {"kind": "payout_reversal", **ABOUT_NO_SWEEP, "note": ""},
        {"kind": "payout_reversal", **ABOUT_NO_SWEEP, "note": "why", "recorded_by": ""},
    ],
)
def test_an_entry_names_who_recorded_it_exactly_if_the_chain_did_not_cause_it(
    entry: Callable[..., JournalEntry], facts: dict[str, Any]
) -> None:
    with refused("entry_names_who_recorded_it"):
        entry(**facts, reverses_id=uuid4() if facts.get("kind") == "payout_reversal" else None)


def test_a_reversal_names_what_it_reverses(entry: Callable[..., JournalEntry]) -> None:
    with refused("entry_names_what_it_reverses"):
        entry(kind="reversal")


def test_a_fee_does_not_reverse_an_entry(entry: Callable[..., JournalEntry], partner: Partner) -> None:
    with refused("entry_names_what_it_reverses"):
        entry(reverses=book_fee(partner))


def test_an_entry_does_not_reverse_itself(entry: Callable[..., JournalEntry]) -> None:
    own = UUID(int=7)
    with refused("entry_reverses_another"):
        entry(id=own, kind="reversal", reverses_id=own)


@pytest.mark.parametrize("amounts", [(-999, 999), (-1_001, 1_001), (1_000, -1_000)])
def test_a_reversal_mirrors_its_original_to_the_unit(
    entry: Callable[..., JournalEntry], partner: Partner, amounts: tuple[int, int]
) -> None:
    original = book_fee(partner, partner_fee=0)
    with refused("does not mirror"):
        made = entry(**mirrored(original))
        post(made, account("fees_charged"), amounts[0])
        post(made, account("protocol_revenue"), amounts[1])


@pytest.mark.parametrize(
    "facts",
    [
        {"booking_epoch": 9},
        {"sweep_ref": UUID(int=1)},
        {"execution_ref": UUID(int=1)},
        {"kind": "payout_reversal", **ABOUT_NO_SWEEP, "note": "why"},
    ],
)
def test_a_reversal_has_the_facts_of_its_original(
    entry: Callable[..., JournalEntry], partner: Partner, facts: dict[str, Any]
) -> None:
    original = book_fee(partner, partner_fee=0)
    with refused("does not mirror"):
        made = entry(**(mirrored(original) | facts))
        post(made, account("fees_charged"), -1_000)
        post(made, account("protocol_revenue"), 1_000)


def test_an_entry_is_posted_when_the_clock_of_the_database_says(payout: Callable[..., JournalEntry]) -> None:
    before = database_time()
    made = payout(posted_at=before - timedelta(days=30))
    assert before < made.posted_at < database_time()
    assert JournalEntry.objects.get(pk=made.pk).posted_at == made.posted_at


def test_an_entry_that_is_committed_long_after_it_was_posted_is_refused(payout: Callable[..., JournalEntry]) -> None:
    now = database_time()
    with switched_off(triggers.entry_takes_the_time):
        payout(posted_at=now - timedelta(minutes=3))
    with refused("too long before its commit"), switched_off(triggers.entry_takes_the_time):
        payout(posted_at=now - timedelta(minutes=4))


def test_a_reversal_is_not_dated_before_its_original(partner: Partner) -> None:
    moment = database_time()
    original = fee_at(moment, partner, 5)
    with refused("is dated before"):
        reversal_at(moment - timedelta(microseconds=1), original)
    assert reversal_at(moment, original).posted_at == moment


def test_a_payout_is_booked_once_per_transaction_partner_asset_and_epoch(payout: Callable[..., JournalEntry]) -> None:
    first = payout()
    payout(tx_hash=first.tx_hash, booking_epoch=1)
    with refused("payout_is_booked_once"):
        payout(tx_hash=first.tx_hash)


def test_one_transaction_may_pay_several_partners(
    payout: Callable[..., JournalEntry], entry: Callable[..., JournalEntry]
) -> None:
    tx_hash = payout().tx_hash
    other = PartnerFactory.create()
    made = entry(kind="payout", **ABOUT_NO_SWEEP, partner=other, tx_hash=tx_hash)
    post(made, account("partner_payable", other), 5)
    post(made, account("partner_paid", other), -5)
    connection.check_constraints()


def test_a_payout_is_reversed_like_a_fee(
    payout: Callable[..., JournalEntry], entry: Callable[..., JournalEntry], partner: Partner
) -> None:
    paid = payout()
    reversal = entry(kind="payout_reversal", **ABOUT_NO_SWEEP, note="why", reverses=paid, tx_hash=paid.tx_hash)
    post(reversal, account("partner_paid", partner), 5)
    post(reversal, account("partner_payable", partner), -5)
    connection.check_constraints()
