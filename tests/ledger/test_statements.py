"""Statements by example, as a partner's bookkeeper would read them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ledger.entries.posting import finalize
from ledger.models import Asset, Settlement
from ledger.statements import reading
from ledger.statements.month import Month
from ledger.statements.reading import months_of, statement
from ledger.statements.values import AssetStatement, ShownAsset, StatementTotals
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, open_accounts, payout_at, reversal_at
from tests.sessions import rival_after_query

pytestmark = pytest.mark.django_db

NOVEMBER, DECEMBER = Month(2026, 11), Month(2026, 12)
LAST_MOMENT = timedelta(microseconds=1)
ARBITRUM = "eip155:42161"


def day(number: int, month: Month = NOVEMBER) -> datetime:
    return month.start + timedelta(days=number - 1, hours=12)


def only_asset(partner: Partner, month: Month = NOVEMBER) -> AssetStatement:
    [asset] = statement(partner, month).assets
    return asset


def test_a_month_with_all_kinds_of_entries(partner: Partner) -> None:
    finalize([fee_at(day(30, Month(2026, 10)), partner, 500).pk])
    finalize([fee_at(day(1), partner, 300).pk])
    reversal_at(day(3), fee_at(day(2), partner, 70))
    fee_at(day(4), partner, 1_000, settlement=Settlement.ON_CHAIN)
    reversal_at(day(6), payout_at(day(5), partner, 790))
    payout_at(day(7), partner, 99)
    fee_at(day(8), partner, 20)
    november = only_asset(partner)
    assert november.totals == StatementTotals(
        opening=500, unavailable=20, accrued=390, reversed=70, paid=99, settled_on_chain=1_000
    )
    assert (november.totals.closing, november.totals.final) == (721, 701)
    assert [(line.kind, line.column, line.amount, line.state, owed) for line, owed in november.lines] == [
        ("sweep_fee", "accrued", 300, "final", 800),
        ("sweep_fee", "accrued", 70, "reversed", 870),
        ("reversal", "reversed", 70, "", 800),
        ("sweep_fee", "settled_on_chain", 1_000, "", 800),
        ("payout", "paid", 790, "reversed", 10),
        ("payout_reversal", "paid", -790, "", 800),
        ("payout", "paid", 99, "", 701),
        ("sweep_fee", "accrued", 20, "pending", 721),
    ]


def test_a_line_names_its_sweep_or_its_transaction(partner: Partner) -> None:
    fee = fee_at(day(1), partner, 300)
    finalize([fee.pk])
    paid = payout_at(day(2), partner, 100)
    (first, _), (second, _) = only_asset(partner).lines
    assert (first.sweep_ref, first.tx_hash, first.entry_id) == (fee.sweep_ref, fee.tx_hash, fee.pk)
    assert (second.sweep_ref, second.tx_hash, second.entry_id) == (None, paid.tx_hash, paid.pk)


def test_an_asset_with_a_balance_and_no_entries_is_shown(partner: Partner) -> None:
    fee_at(day(1), partner, 300)
    december = only_asset(partner, DECEMBER)
    assert (december.totals, december.lines) == (StatementTotals(opening=300, unavailable=300), ())


def test_an_asset_that_was_paid_out_before_is_left_out(partner: Partner) -> None:
    finalize([fee_at(day(1), partner, 300).pk])
    payout_at(day(2), partner, 300)
    assert statement(partner, DECEMBER).assets == ()


def test_an_asset_that_only_settled_on_chain_has_a_balance_of_zero(partner: Partner) -> None:
    fee_at(day(1), partner, 300, settlement=Settlement.ON_CHAIN)
    assert only_asset(partner).totals == StatementTotals(settled_on_chain=300)
    assert statement(partner, DECEMBER).assets == ()


def test_a_reversed_settlement_on_chain_is_taken_off_the_settlements(partner: Partner) -> None:
    reversal_at(day(2), fee_at(day(1), partner, 300, settlement=Settlement.ON_CHAIN))
    november = only_asset(partner)
    assert november.totals == StatementTotals()
    assert [(line.column, line.amount) for line, _ in november.lines] == [
        ("settled_on_chain", 300),
        ("settled_on_chain", -300),
    ]


def test_a_fee_without_a_share_is_not_the_partners_business(partner: Partner) -> None:
    fee_at(day(1), partner, 0, total_fee=10)
    assert statement(partner, NOVEMBER).assets == ()


def test_a_reversal_after_a_payout_leaves_a_debt(partner: Partner) -> None:
    fee = fee_at(day(1), partner, 300)
    finalize([fee.pk])
    payout_at(day(2), partner, 300)
    reversal_at(day(1, DECEMBER), fee)
    december = only_asset(partner, DECEMBER)
    assert (december.totals.closing, december.totals.final) == (-300, -300)


def test_an_accrual_reversed_in_a_later_month_is_never_available(partner: Partner) -> None:
    fee = fee_at(day(1), partner, 300)
    reversal_at(day(1, DECEMBER), fee)
    november, december = only_asset(partner), only_asset(partner, DECEMBER)
    assert (november.totals.closing, november.totals.final) == (300, 0)
    assert (december.totals.closing, december.totals.final) == (0, 0)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/Los_Angeles"])
def test_months_end_at_midnight_in_utc_whatever_the_time_zone_of_the_session(partner: Partner, zone: str) -> None:
    fee_at(NOVEMBER.start - LAST_MOMENT, partner, 1)
    fee_at(NOVEMBER.start, partner, 10)
    fee_at(NOVEMBER.end - LAST_MOMENT, partner, 100)
    fee_at(NOVEMBER.end, partner, 1_000)
    with timezone.override(zone):
        november = only_asset(partner)
    assert [line.posted_at.isoformat() for line, _ in november.lines] == [
        "2026-11-01T00:00:00+00:00",
        "2026-11-30T23:59:59.999999+00:00",
    ]
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', %s, true)", [zone])
    totals = only_asset(partner).totals
    assert (totals.opening, totals.accrued) == (november.totals.opening, november.totals.accrued) == (1, 110)


def test_an_entry_that_was_posted_in_a_former_month_and_numbered_in_this_one_is_on_the_statement_of_this_one(
    partner: Partner,
) -> None:
    first, late = fee_at(day(1, DECEMBER), partner, 1), fee_at(day(1), partner, 20)
    assert statement(partner, NOVEMBER).assets == ()
    assert [line.entry_id for line, _ in only_asset(partner, DECEMBER).lines] == [first.pk, late.pk]


def test_lines_have_the_numbers_of_their_entries_and_are_ordered_by_them(partner: Partner) -> None:
    entries = [fee_at(day(1), partner, 1) for _ in range(5)]
    fee_at(day(1), PartnerFactory.create(), 1)
    entries.append(fee_at(day(1), partner, 1))
    lines = [line for line, _ in only_asset(partner).lines]
    assert [line.entry_id for line in lines] == [entry.pk for entry in entries]
    assert [line.number for line in lines] == [entry.numbered.partner_number for entry in entries]
    assert [line.number for line in lines] == [0, 1, 2, 3, 4, 5]


def test_an_entry_without_a_number_is_on_no_statement(partner: Partner) -> None:
    entry = book_fee(partner, settlement=Settlement.PAYABLE)
    assert statement(partner, Month.of(entry.posted_at)).assets == ()
    assert months_of(partner) == []


def test_assets_are_kept_apart_and_ordered_by_network(partner: Partner) -> None:
    Asset.objects.create(network=BASE, asset=WETH, symbol="WETH", decimals=18)
    Asset.objects.create(network=ARBITRUM, asset=WETH, symbol="OTHER", decimals=6)
    fee_at(day(1), partner, 300)
    fee_at(day(2), partner, 20, network=ARBITRUM)
    assert [(asset.shown, asset.totals.closing) for asset in statement(partner, NOVEMBER).assets] == [
        (ShownAsset(ARBITRUM, WETH, "OTHER", 6), 20),
        (ShownAsset(BASE, WETH, "WETH", 18), 300),
    ]


def test_an_asset_of_older_books_has_no_symbol(partner: Partner) -> None:
    open_accounts(partner)
    fee_at(day(1), partner, 300)
    assert only_asset(partner).shown == ShownAsset(BASE, WETH, symbol=None, decimals=None)


def test_another_partners_entries_are_on_its_own_statement(partner: Partner) -> None:
    fee_at(day(1), PartnerFactory.create(), 300)
    assert statement(partner, NOVEMBER).assets == ()


def test_sums_beyond_a_uint256_are_exact(partner: Partner) -> None:
    for _ in range(3):
        fee_at(day(1), partner, UINT256_MAX, total_fee=UINT256_MAX)
    assert only_asset(partner).totals.accrued == only_asset(partner, DECEMBER).totals.opening == 3 * UINT256_MAX


def test_only_the_first_lines_are_kept_and_all_are_summed_up(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINES", 2)
    for number in range(1, 6):
        fee_at(day(number), partner, 10**number)
    november = only_asset(partner)
    assert [line.amount for line, _ in november.lines] == [10, 100]
    assert (november.line_count, november.totals.accrued) == (5, 111_110)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [2, 3])
def test_what_becomes_final_and_is_paid_out_during_a_statement_is_on_it_with_both_or_neither(
    partner: Partner, number: int
) -> None:
    fee = fee_at(day(30, Month(2026, 10)), partner, 400)

    @transaction.atomic
    def pay() -> None:
        finalize([fee.pk])
        payout_at(day(1), partner, 400)

    with rival_after_query(pay, number=number):
        [asset] = statement(partner, NOVEMBER).assets
    assert (asset.totals.closing, asset.totals.final) == ((0, 0) if number == 2 else (400, 0))
    assert only_asset(partner).totals.closing == 0


@pytest.mark.parametrize("count", [0, 1, 12])
def test_a_statement_takes_three_queries(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    for moment in (day(1, Month(2026, 10)), day(1)):
        for number in range(count):
            fee_at(moment, partner, 10, network=f"eip155:{1 + number % 4}")
    with django_assert_num_queries(3):  # the time, symbols, openings with lines
        assert sum(asset.line_count for asset in statement(partner, NOVEMBER).assets) == count


def test_a_month_is_over_once_no_entry_can_be_added_to_it(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    for time, is_over in (
        (NOVEMBER.end, False),
        (NOVEMBER.end + timedelta(minutes=5) - LAST_MOMENT, False),
        (NOVEMBER.end + timedelta(minutes=5), True),
    ):
        monkeypatch.setattr(reading, "database_time", lambda time=time: time)
        assert statement(partner, NOVEMBER).is_over is is_over


def test_months_reach_from_the_first_entry_to_now(partner: Partner) -> None:
    assert months_of(partner) == []
    now = datetime.now(UTC)
    fee_at(Month.of(now).shifted(-13).end - LAST_MOMENT, partner, 1)
    fee_at(now, partner, 1)
    assert months_of(partner) == [Month.of(now).shifted(-months) for months in range(14)]
    newcomer = PartnerFactory.create()
    fee_at(now, newcomer, 1)
    assert months_of(newcomer) == [Month.of(now)]
