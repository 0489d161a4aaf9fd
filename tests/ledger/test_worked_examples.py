"""The ledger by example: each test is an event and its journal, as a bookkeeper would write it."""

from collections import defaultdict
from uuid import uuid4

import pytest
from django.db import connection

from ledger.entries.posting import reverse
from ledger.models import JournalEntry, Posting, Settlement
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import book_fee, post_sweep_fees, sweep_fee
from tests.factories.partners import PartnerFactory

pytestmark = pytest.mark.django_db


def journal(entry: JournalEntry) -> list[tuple[str, str, int]]:
    """Return the entry as lines of account, side and amount."""
    connection.check_constraints()
    return [(p.account.name, p.direction, p.magnitude) for p in entry.postings.select_related("account")]


def balances() -> dict[str, int]:
    """Return debits less credits of every account whose balance is not zero."""
    totals: dict[str, int] = defaultdict(int)
    for posting in Posting.objects.select_related("account"):
        totals[posting.account.name] += posting.amount
    return {name: total for name, total in totals.items() if total}


def test_a_v5_sweep_pays_the_partner_on_chain(partner: Partner) -> None:
    """The gross output is 1 WETH: the fee is 75 bps of it, and the transaction paid 40 % of the fee to the partner."""
    entry = book_fee(partner, total_fee=7_500_000_000_000_000, partner_fee=3_000_000_000_000_000)
    assert journal(entry) == [
        ("fees_charged", "debit", 7_500_000_000_000_000),
        ("partner_settled", "credit", 3_000_000_000_000_000),
        ("protocol_revenue", "credit", 4_500_000_000_000_000),
    ]


def test_a_v4_sweep_accrues_the_partners_part(partner: Partner) -> None:
    """The platform received the whole fee and owes the partner its part."""
    entry = book_fee(partner, total_fee=1_001, partner_fee=400, settlement=Settlement.PAYABLE)
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
    post_sweep_fees([sweep_fee(partner, total_fee=0, partner_fee=0)])
    assert not JournalEntry.objects.exists()


def test_a_reversal_restores_every_account(partner: Partner) -> None:
    """A reorg removed the block of the sweep: its entry stays, and another one reverses it."""
    entry = book_fee(partner, booking_epoch=3)
    reversal = reverse(entry)
    assert (reversal.kind, reversal.reverses) == ("reversal", entry)
    for fact in ("sweep_ref", "execution_ref", "booking_epoch", "partner", "network", "asset", "tx_hash"):
        assert getattr(reversal, fact) == getattr(entry, fact)
    assert journal(reversal) == [
        ("fees_charged", "credit", 1_000),
        ("partner_settled", "debit", 400),
        ("protocol_revenue", "debit", 600),
    ]
    assert balances() == {}


def test_a_sweep_that_is_mined_again_after_a_reorg_is_booked_again(partner: Partner) -> None:
    execution_ref = uuid4()
    reverse(book_fee(partner, execution_ref=execution_ref, booking_epoch=0, total_fee=1_000, partner_fee=400))
    book_fee(partner, execution_ref=execution_ref, booking_epoch=1, total_fee=900, partner_fee=360)
    connection.check_constraints()
    assert balances() == {"fees_charged": 900, "partner_settled": -360, "protocol_revenue": -540}
    assert list(JournalEntry.objects.order_by("pk").values_list("kind", "booking_epoch")) == [
        ("sweep_fee", 0),
        ("reversal", 0),
        ("sweep_fee", 1),
    ]


def test_the_largest_possible_fee_is_booked_to_the_unit(partner: Partner) -> None:
    entry = book_fee(partner, total_fee=UINT256_MAX, partner_fee=UINT256_MAX // 3)
    assert journal(entry) == [
        ("fees_charged", "debit", UINT256_MAX),
        ("partner_settled", "credit", UINT256_MAX // 3),
        ("protocol_revenue", "credit", UINT256_MAX - UINT256_MAX // 3),
    ]


def test_accounts_are_per_partner_and_asset_and_the_platforms_per_asset(partner: Partner) -> None:
    usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    other = PartnerFactory.create()
    entries = [book_fee(partner), book_fee(partner), book_fee(other), book_fee(partner, asset=usdc)]
    accounts = [{p.account.name: p.account_id for p in entry.postings.select_related("account")} for entry in entries]
    assert accounts[0] == accounts[1]
    assert accounts[0]["partner_settled"] != accounts[2]["partner_settled"]
    assert accounts[0]["fees_charged"] == accounts[2]["fees_charged"]
    assert not set(accounts[0].values()) & set(accounts[3].values())


def test_a_fee_on_solana_is_booked_in_the_same_ledger(partner: Partner) -> None:
    solana, usdc = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
    entry = book_fee(partner, network=solana, asset=usdc, tx_hash="5" * 88, settlement=Settlement.PAYABLE)
    assert (entry.network, entry.asset, entry.tx_hash) == (solana, usdc, "5" * 88)
    assert journal(entry) == [
        ("fees_charged", "debit", 1_000),
        ("partner_payable", "credit", 400),
        ("protocol_revenue", "credit", 600),
    ]
