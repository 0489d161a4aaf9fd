"""PostgreSQL itself refuses whatever is no double entry, also from raw SQL and whoever asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pgtrigger
import pytest
from django.db import IntegrityError, connection, transaction

from ledger.models import Account, JournalEntry, Posting
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, book_fee, random_hash
from tests.factories.partners import PartnerFactory

pytestmark = pytest.mark.django_db

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


@contextmanager
def checked() -> Iterator[None]:
    """Run what is deferred to the commit at the end of the block."""
    yield
    connection.check_constraints()


@contextmanager
def refused(why: str) -> Iterator[None]:
    """Expect the block, or the checks deferred to its commit, to be refused for this reason."""
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
            "incarnation": 0,
            "partner": partner,
            "chain_id": BASE,
            "token": WETH,
            "tx_hash": random_hash(),
        }
        return JournalEntry.objects.create(**(defaults | facts))

    return make


@pytest.fixture
def payout(entry: Callable[..., JournalEntry], partner: Partner) -> Callable[..., JournalEntry]:
    """Return a maker of balanced payouts."""

    def make(**facts: Any) -> JournalEntry:
        made = entry(**({"kind": "payout", "sweep_ref": None, "incarnation": None} | facts))
        post(made, account("partner_payable", partner), 5)
        post(made, account("partner_paid", partner), -5)
        return made

    return make


def account(name: str, partner: Partner | None = None, *, chain_id: int = BASE, token: str = WETH) -> Account:
    found, _ = Account.objects.get_or_create(name=name, partner=partner, chain_id=chain_id, token=token)
    return found


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


def test_unbalancing_a_checked_entry_later_in_its_transaction_is_refused(partner: Partner) -> None:
    with refused("out of balance"):
        booked = book_fee(partner)
        connection.check_constraints()
        post(booked, account("fees_charged"), 5)


def test_a_posting_of_zero_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("posting_is_never_zero"):
        post(entry(), account("fees_charged"), 0)


@pytest.mark.parametrize(("chain_id", "token"), [(BASE + 1, WETH), (BASE, USDC)])
def test_an_account_of_another_asset_is_refused(entry: Callable[..., JournalEntry], chain_id: int, token: str) -> None:
    with refused("of another asset"):
        post(entry(), account("fees_charged", chain_id=chain_id, token=token), 5)


def test_an_account_of_another_partner_is_refused(entry: Callable[..., JournalEntry]) -> None:
    with refused("of another partner"):
        post(entry(), account("partner_settled", PartnerFactory.create()), 5)


def test_postings_may_lie_in_savepoints_of_their_entrys_transaction(entry: Callable[..., JournalEntry]) -> None:
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
def test_claiming_the_current_transaction_for_an_old_one_does_not_help(partner: Partner) -> None:
    """The stamp is the database's: what an INSERT says about it is overwritten."""
    booked = book_fee(partner)
    with transaction.atomic():
        copy = JournalEntry.objects.get(pk=booked.pk)
        copy.pk, copy.sweep_ref, copy.posted_in = uuid4(), uuid4(), booked.pk.int % 2**31
        copy.save(force_insert=True)
        post(copy, account("fees_charged"), 5)
        post(copy, account("protocol_revenue"), -5)
    assert JournalEntry.objects.get(pk=copy.pk).posted_in > JournalEntry.objects.get(pk=booked.pk).posted_in


@pytest.mark.parametrize("table", ["ledger_account", "ledger_journalentry", "ledger_posting"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_nothing_booked_is_changed_or_removed(partner: Partner, statement: str, table: str) -> None:
    book_fee(partner)
    with refused("append-only"):
        execute(statement.format(table))


def test_triggers_cannot_be_skipped_by_asking(partner: Partner) -> None:
    """django-pgtrigger offers sessions to ignore triggers; the ledger takes no such wish."""
    book_fee(partner)
    with pgtrigger.ignore(), refused("append-only"):
        Posting.objects.update(amount=1)


def test_an_account_exists_once_also_without_a_partner() -> None:
    account("fees_charged")
    with refused("account_is_one_of_its_kind"):
        execute("INSERT INTO ledger_account (chain_id, token, name) VALUES (%s, %s, 'fees_charged')", BASE, WETH)


@pytest.mark.parametrize(("name", "with_partner"), [("fees_charged", True), ("partner_paid", False)])
def test_accounts_belong_to_a_partner_exactly_if_named_so(partner: Partner, name: str, with_partner: bool) -> None:  # noqa: FBT001
    with refused("account_has_a_partner_if_named_so"):
        account(name, partner if with_partner else None)


def test_an_account_of_an_unknown_name_is_refused() -> None:
    with refused("account_name_is_known"):
        account("slush_fund")


@pytest.mark.parametrize(
    "facts",
    [
        {"sweep_ref": None},
        {"incarnation": None},
        {"kind": "payout"},
        {"kind": "payout", "sweep_ref": None},
        {"kind": "bonus"},
    ],
)
def test_an_entry_names_its_sweep_exactly_if_it_is_about_one(
    entry: Callable[..., JournalEntry], facts: dict[str, Any]
) -> None:
    with refused("entry_names_its_sweep|entry_names_what_it_reverses"):
        entry(**facts)


def test_a_reversal_names_what_it_reverses(entry: Callable[..., JournalEntry]) -> None:
    with refused("entry_names_what_it_reverses"):
        entry(kind="reversal")


def test_a_fee_reverses_nothing(entry: Callable[..., JournalEntry], partner: Partner) -> None:
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
        made = entry(kind="reversal", reverses=original, sweep_ref=original.sweep_ref)
        post(made, account("fees_charged"), amounts[0])
        post(made, account("protocol_revenue"), amounts[1])


@pytest.mark.parametrize("facts", [{"incarnation": 9}, {"sweep_ref": UUID(int=1)}, {"kind": "payout_reversal"}])
def test_a_reversal_is_about_the_same_as_its_original(
    entry: Callable[..., JournalEntry], partner: Partner, facts: dict[str, Any]
) -> None:
    original = book_fee(partner, partner_fee=0)
    if facts.get("kind"):
        facts = facts | {"sweep_ref": None, "incarnation": None}
    with refused("does not mirror"):
        made = entry(**({"kind": "reversal", "reverses": original, "sweep_ref": original.sweep_ref} | facts))
        post(made, account("fees_charged"), -1_000)
        post(made, account("protocol_revenue"), 1_000)


def test_a_payout_is_booked_once_a_transaction_partner_and_token(payout: Callable[..., JournalEntry]) -> None:
    first = payout()
    with refused("payout_is_booked_once"):
        payout(tx_hash=first.tx_hash)


def test_one_transaction_may_pay_several_partners(
    payout: Callable[..., JournalEntry], entry: Callable[..., JournalEntry]
) -> None:
    tx_hash = payout().tx_hash
    other = PartnerFactory.create()
    made = entry(kind="payout", sweep_ref=None, incarnation=None, partner=other, tx_hash=tx_hash)
    post(made, account("partner_payable", other), 5)
    post(made, account("partner_paid", other), -5)
    connection.check_constraints()


def test_a_payout_is_reversed_like_a_fee(
    payout: Callable[..., JournalEntry], entry: Callable[..., JournalEntry], partner: Partner
) -> None:
    paid = payout()
    undone = entry(kind="payout_reversal", sweep_ref=None, incarnation=None, reverses=paid, tx_hash=paid.tx_hash)
    post(undone, account("partner_paid", partner), 5)
    post(undone, account("partner_payable", partner), -5)
    connection.check_constraints()
