"""The sums of hours are those of the ledger, whenever they are summed."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone

from ledger.entries.posting import reverse
from ledger.models import Account, JournalEntry, Posting
from partners.models import Partner
from sweepapi.fees import Split
from sweeps.books.hourly_sums import sum_hours
from sweeps.models import Execution, HourlySum, Sweep, SweepTransaction
from tests.factories.ledger import book_fee
from tests.factories.past import fee_at, reversal_at
from tests.factories.sweeps import OfferFactory, SweepFactory

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)
DOLLARS = 10**6


def executed(partner: Partner, *, gross: int) -> Sweep:
    """Return a sweep whose offer promised a million units worth two dollars, and that brought ``gross``."""
    sweep = SweepFactory.create(partner=partner, offer=None)
    OfferFactory.create(sweep=sweep, sequence=1, expected_gross=1, expected_micros=7)
    OfferFactory.create(sweep=sweep, sequence=2, expected_gross=1_000_000, expected_micros=2 * DOLLARS)
    fee = gross // 100
    execution = sweep.executions.get()
    execution.status, execution.amounts = (
        Execution.Status.EXECUTED,
        Split(gross, fee, fee // 4, fee - fee // 4, gross - fee),
    )
    execution.save()
    return sweep


def book(sweep: Sweep, moment: datetime) -> JournalEntry:
    execution = sweep.executions.get()
    facts = {"asset": sweep.output_asset, "network": sweep.network, "total_fee": execution.total_fee}
    assert execution.partner_fee is not None
    refs = {"sweep_ref": sweep.id, "execution_ref": execution.id}
    return fee_at(moment, sweep.partner, execution.partner_fee, **facts, **refs)


def of_ledger(*accounts: str) -> int:
    return -(Posting.objects.filter(account__name__in=accounts).aggregate(sum=Sum("amount"))["sum"] or 0)


def test_the_sums_are_those_of_the_ledger(partner: Partner) -> None:
    for hours, gross in ((0, 500_000), (0, 1_000_000), (5, 200_000)):
        book(executed(partner, gross=gross), NOON + timedelta(hours=hours, minutes=59))
    book_fee(partner)
    sum_hours()
    sums = HourlySum.objects.aggregate(partner=Sum("partner_fees"), protocol=Sum("protocol_fees"))
    assert sums == {
        "partner": of_ledger(Account.Name.PARTNER_PAYABLE, Account.Name.PARTNER_SETTLED),
        "protocol": of_ledger(Account.Name.PROTOCOL_REVENUE),
    }
    at_noon = HourlySum.objects.get(hour=NOON)
    assert (at_noon.executions, at_noon.volume) == (2, 1_500_000)
    assert at_noon.volume_micros == 3 * DOLLARS, "at the price of the newest offer"
    assert (at_noon.partner_micros, at_noon.protocol_micros) == (7_500, 22_500)


def test_an_hour_is_summed_again_until_it_is_over(partner: Partner) -> None:
    now = timezone.now()
    book(executed(partner, gross=100_000), now)
    sum_hours()
    book(executed(partner, gross=300_000), now)
    sum_hours()
    sum_hours()
    (row,) = HourlySum.objects.all()
    assert (row.executions, row.volume) == (2, 400_000)


def test_a_reversal_counts_in_the_hour_in_which_it_was_booked(partner: Partner) -> None:
    entry = book(executed(partner, gross=100_000), NOON)
    reversal_at(NOON + timedelta(hours=3), entry)
    sum_hours()
    sums = list(HourlySum.objects.values_list("executions", "partner_fees", "protocol_fees"))
    assert sums == [(1, 250, 750), (-1, -250, -750)]


def test_a_fee_whose_sweep_has_no_price_counts_without_a_value(partner: Partner) -> None:
    book_fee(partner)
    reverse(book_fee(partner))
    sum_hours()
    (row,) = HourlySum.objects.all()
    assert (row.executions, row.partner_fees, row.partner_micros) == (1, 400, 0)


def test_the_time_to_completion_is_that_of_reported_transactions(partner: Partner) -> None:
    sweep = executed(partner, gross=100_000)
    SweepTransaction.objects.create(
        sweep=sweep,
        execution=sweep.executions.get(),
        tx_hash=f"0x{1:064x}",
        status=SweepTransaction.Status.ACCEPTED,
        block_number=1,
        block_hash="0x1",
        submitted_at=NOON,
        confirmed_at=NOON + timedelta(seconds=42),
    )
    book(sweep, NOON)
    sum_hours()
    assert HourlySum.objects.values_list("accepted", "seconds").get() == (1, 42)
