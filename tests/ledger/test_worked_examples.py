"""The books by example: each test is a small story with its journal, as a bookkeeper would write it down."""

from collections import defaultdict
from uuid import uuid4

import pytest
from django.db import connection

from ledger.models import JournalEntry, Posting
from ledger.posting import post_sweep_fee, reverse
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee, random_hash
from tests.factories.partners import PartnerFactory

pytestmark = pytest.mark.django_db


def journal(entry: JournalEntry) -> list[tuple[str, str, int]]:
    """Return the entry as lines of account, side and amount."""
    connection.check_constraints()
    return [(p.account.name, p.direction, p.magnitude) for p in entry.postings.select_related("account")]


def balances() -> dict[str, int]:
    """Return debits less credits of every account that is not at zero."""
    totals: dict[str, int] = defaultdict(int)
    for posting in Posting.objects.select_related("account"):
        totals[posting.account.name] += posting.amount
    return {name: total for name, total in totals.items() if total}


def test_a_v5_sweep_pays_the_partner_on_chain(partner: Partner) -> None:
    """A user swept to 1 WETH gross: the fee is 75 bps of it, and 40 % of the fee went to the partner at once."""
    entry = book_fee(partner, total_fee=7_500_000_000_000_000, partner_fee=3_000_000_000_000_000)
    assert journal(entry) == [
        ("fees_charged", "debit", 7_500_000_000_000_000),
        ("partner_settled", "credit", 3_000_000_000_000_000),
        ("protocol_revenue", "credit", 4_500_000_000_000_000),
    ]


def test_a_v4_sweep_accrues_what_the_partner_is_owed(partner: Partner) -> None:
    """The platform got the whole fee; the partner's part is a debt from now on."""
    entry = book_fee(partner, total_fee=1_001, partner_fee=400, settled_on_chain=False)
    assert journal(entry) == [
        ("fees_charged", "debit", 1_001),
        ("partner_payable", "credit", 400),
        ("protocol_revenue", "credit", 601),
    ]


def test_a_partner_without_a_share_has_no_line(partner: Partner) -> None:
    entry = book_fee(partner, total_fee=10, partner_fee=0)
    assert journal(entry) == [("fees_charged", "debit", 10), ("protocol_revenue", "credit", 10)]


def test_a_partner_with_the_whole_share_leaves_the_protocol_no_line(partner: Partner) -> None:
    entry = book_fee(partner, total_fee=10, partner_fee=10)
    assert journal(entry) == [("fees_charged", "debit", 10), ("partner_settled", "credit", 10)]


def test_a_fee_of_zero_is_not_booked(partner: Partner) -> None:
    entry = post_sweep_fee(
        sweep_ref=uuid4(),
        incarnation=0,
        partner=partner,
        chain_id=BASE,
        token=WETH,
        tx_hash=random_hash(),
        total_fee=0,
        partner_fee=0,
        settled_on_chain=True,
    )
    assert entry is None
    assert not JournalEntry.objects.exists()


def test_a_reversal_brings_every_account_back(partner: Partner) -> None:
    """The block of the sweep was reorganised out: the entry stays, and another one undoes it."""
    entry = book_fee(partner, incarnation=3)
    assert entry.sweep_ref is not None
    reversal = reverse(sweep_ref=entry.sweep_ref, incarnation=3, tx_hash=entry.tx_hash)
    assert reversal is not None
    assert (reversal.kind, reversal.reverses) == ("reversal", entry)
    assert journal(reversal) == [
        ("fees_charged", "credit", 1_000),
        ("partner_settled", "debit", 400),
        ("protocol_revenue", "debit", 600),
    ]
    assert balances() == {}


def test_a_sweep_mined_again_after_a_reorganisation_is_booked_again(partner: Partner) -> None:
    sweep_ref = uuid4()
    book_fee(partner, sweep_ref=sweep_ref, incarnation=0, total_fee=1_000, partner_fee=400)
    reverse(sweep_ref=sweep_ref, incarnation=0, tx_hash=random_hash())
    book_fee(partner, sweep_ref=sweep_ref, incarnation=1, total_fee=900, partner_fee=360)
    connection.check_constraints()
    assert balances() == {"fees_charged": 900, "partner_settled": -360, "protocol_revenue": -540}
    assert list(JournalEntry.objects.order_by("pk").values_list("kind", "incarnation")) == [
        ("sweep_fee", 0),
        ("reversal", 0),
        ("sweep_fee", 1),
    ]


def test_reversing_what_was_never_booked_books_nothing() -> None:
    assert reverse(sweep_ref=uuid4(), incarnation=0, tx_hash=random_hash()) is None


def test_the_largest_fee_a_chain_can_express_is_booked_to_the_unit(partner: Partner) -> None:
    entry = book_fee(partner, total_fee=UINT256_MAX, partner_fee=UINT256_MAX // 3)
    assert journal(entry) == [
        ("fees_charged", "debit", UINT256_MAX),
        ("partner_settled", "credit", UINT256_MAX // 3),
        ("protocol_revenue", "credit", UINT256_MAX - UINT256_MAX // 3),
    ]


def test_partners_and_tokens_have_accounts_of_their_own_and_the_platform_shares_one_a_token(partner: Partner) -> None:
    usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    other = PartnerFactory.create()
    entries = [book_fee(partner), book_fee(partner), book_fee(other), book_fee(partner, token=usdc)]
    accounts = [{p.account.name: p.account_id for p in entry.postings.select_related("account")} for entry in entries]
    assert accounts[0] == accounts[1]
    assert accounts[0]["partner_settled"] != accounts[2]["partner_settled"]
    assert accounts[0]["fees_charged"] == accounts[2]["fees_charged"]
    assert not set(accounts[0].values()) & set(accounts[3].values())
