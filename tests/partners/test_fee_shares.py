"""A partner's share at a time, and what PostgreSQL refuses in the history of shares."""

from datetime import datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from partners.models import FeeShare, Partner
from tests.factories.partners import START, FeeShareFactory, PartnerFactory, random_address

pytestmark = pytest.mark.django_db

NOW = timezone.now()
MOMENT = timedelta(microseconds=1)
DAY = timedelta(days=1)


def next_share(partner: Partner, time: datetime) -> tuple[int, datetime] | None:
    share = partner.next_share_after(time)
    return None if share is None else (share.share_bps, share.effective_from)


def test_a_share_counts_from_its_time_until_that_of_the_next(partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=2, effective_from=NOW + DAY)
    FeeShareFactory.create(partner=partner, share_bps=1, effective_from=NOW - DAY)
    changes = (NOW - DAY, 4000, 1), (NOW + DAY, 1, 2)
    for time, before, after in changes:
        assert [partner.share_bps_at(time + step) for step in (-MOMENT, 0 * MOMENT, MOMENT)] == [before, after, after]


def test_of_two_shares_with_the_same_time_the_later_row_counts(partner: Partner) -> None:
    for share_bps in (3, 1, 2):
        FeeShareFactory.create(partner=partner, share_bps=share_bps, effective_from=NOW + DAY)
    assert partner.share_bps_at(NOW + DAY) == 2
    assert next_share(partner, NOW) == (2, NOW + DAY)


def test_the_next_share_is_the_first_one_scheduled_after_the_time(partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=2, effective_from=NOW + 2 * DAY)
    FeeShareFactory.create(partner=partner, share_bps=1, effective_from=NOW + DAY)
    assert next_share(partner, NOW) == (1, NOW + DAY)
    assert next_share(partner, NOW + DAY) == (2, NOW + 2 * DAY)
    assert next_share(partner, NOW + 2 * DAY) is None


def test_shares_of_other_partners_do_not_count(partner: Partner) -> None:
    other = PartnerFactory.create(fee_share_bps=1)
    FeeShareFactory.create(partner=other, share_bps=2, effective_from=NOW + DAY)
    assert (partner.share_bps_at(NOW + DAY), partner.next_share_after(NOW)) == (4000, None)


def test_the_first_share_counts_before_its_time_too(partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=1, effective_from=NOW)
    assert partner.share_bps_at(START - MOMENT) == 4000


def test_a_share_is_read_by_one_statement(partner: Partner, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert partner.share_bps_at(Now()) == 4000


def test_a_share_without_a_time_is_effective_at_once(partner: Partner) -> None:
    share = FeeShare.objects.create(partner=partner, share_bps=1)
    assert NOW < share.created_at == share.effective_from
    assert partner.share_bps_at(timezone.now()) == 1


def test_a_past_time_is_refused_in_a_sentence(partner: Partner) -> None:
    share = FeeShare(partner=partner, share_bps=1)
    share.effective_from = share.created_at - MOMENT
    with pytest.raises(ValidationError, match="sweeps were built with the earlier share") as refusal:
        share.full_clean()
    assert [error.code for error in refusal.value.error_dict["__all__"]] == ["effective_in_the_past"]
    share.effective_from = share.created_at
    share.full_clean()


def test_postgres_refuses_a_past_time(partner: Partner) -> None:
    with pytest.raises(IntegrityError, match="fee_share_is_not_effective_in_the_past"):
        FeeShareFactory.create(partner=partner, share_bps=1, effective_from=NOW - MOMENT, created_at=NOW)


@pytest.mark.parametrize("share_bps", [-1, 10_001])
def test_postgres_refuses_a_share_out_of_range(partner: Partner, share_bps: int) -> None:
    with pytest.raises(IntegrityError, match="fee_share_is_in_range"):
        FeeShareFactory.create(partner=partner, share_bps=share_bps)


@pytest.mark.parametrize("share_bps", [0, 10_000])
def test_a_share_may_be_zero_or_all_of_the_fee(share_bps: int) -> None:
    assert PartnerFactory.create(fee_share_bps=share_bps).share_bps_at(NOW) == share_bps


@pytest.mark.parametrize("statement", ["UPDATE partners_feeshare SET share_bps = 1", "DELETE FROM partners_feeshare"])
def test_postgres_refuses_to_change_or_delete_a_share(partner: Partner, statement: str) -> None:
    with (
        pytest.raises(IntegrityError, match="partners_feeshare is append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert partner.fee_shares.get().share_bps == 4000


def test_postgres_refuses_a_partner_without_a_share_at_once() -> None:
    partner = Partner.objects.create(name="Acme", payout_wallet=random_address())
    FeeShareFactory.create(partner=partner, share_bps=1, effective_from=NOW + DAY)
    with pytest.raises(IntegrityError, match="has no fee share that is effective at once"), transaction.atomic():
        connection.check_constraints()
    FeeShare.objects.create(partner=partner, share_bps=1)
    connection.check_constraints()
