"""Rotating a key: both work during the overlap, and the successor may do what the old one could."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from partners.models import ApiKey, Partner
from sweepapi.modes import Mode

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def status_of(plaintext: str) -> int:
    return Client().get("/v2/partner", headers={"x-api-key": plaintext}).status_code


def test_both_keys_work_during_the_overlap_and_only_the_successor_after_it(partner: Partner) -> None:
    old, old_plaintext = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    successor, plaintext = old.rotate(overlap=HOUR)
    assert (status_of(old_plaintext), status_of(plaintext)) == (200, 200)
    old.refresh_from_db()
    assert old.replaced_by == successor
    assert old.expires_at is not None
    assert timedelta(minutes=59) < old.expires_at - timezone.now() <= HOUR
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert (status_of(old_plaintext), status_of(plaintext)) == (401, 200)


def test_without_an_overlap_the_old_key_ends_at_once(partner: Partner) -> None:
    old, old_plaintext = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    _, plaintext = old.rotate(overlap=timedelta())
    assert (status_of(old_plaintext), status_of(plaintext)) == (401, 200)


def test_the_successor_may_do_what_the_old_key_could(partner: Partner) -> None:
    limits = {"scopes": ["read", "ledger"], "allowed_ips": ["10.0.0.0/8"]}
    old, _ = ApiKey.issue(partner=partner, name="reports", mode=Mode.LIVE, **limits)
    successor, plaintext = old.rotate(overlap=HOUR)
    rights = (successor.partner, successor.name, successor.mode, successor.scopes, successor.allowed_ips)
    assert rights == (partner, "reports", "live", *limits.values())
    assert plaintext.startswith("swp_live_")
    assert successor.expires_at is None


def test_the_successor_of_a_key_that_expires_lives_as_long(partner: Partner) -> None:
    expires_at = timezone.now() + 30 * DAY
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST, expires_at=expires_at)
    ApiKey.objects.filter(pk=old.pk).update(created_at=old.created_at - 20 * DAY)
    successor, _ = old.rotate(overlap=HOUR)
    assert successor.expires_at is not None
    assert timedelta(days=49) < successor.expires_at - timezone.now() < timedelta(days=51)


def test_a_key_that_expires_at_the_end_of_all_dates_is_rotated(partner: Partner) -> None:
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST, expires_at=datetime(9999, 12, 31, tzinfo=UTC))
    ApiKey.objects.filter(pk=old.pk).update(created_at=old.created_at - 20 * DAY)
    successor, plaintext = old.rotate(overlap=HOUR)
    successor.refresh_from_db()
    assert successor.expires_at is not None
    assert (successor.expires_at.year, status_of(plaintext)) == (9999, 200)


def test_an_overlap_does_not_make_a_key_live_longer(partner: Partner) -> None:
    expires_at = timezone.now() + HOUR
    old, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST, expires_at=expires_at)
    old.rotate(overlap=DAY)
    old.refresh_from_db()
    assert old.expires_at == expires_at


def test_a_key_that_does_not_work_or_is_rotated_is_not_rotated(partner: Partner) -> None:
    revoked, _ = ApiKey.issue(partner=partner, name="revoked", mode=Mode.TEST)
    revoked.revoke()
    expired, _ = ApiKey.issue(partner=partner, name="expired", mode=Mode.TEST, expires_at=timezone.now())
    rotated, _ = ApiKey.issue(partner=partner, name="rotated", mode=Mode.TEST)
    successor, _ = rotated.rotate(overlap=HOUR)
    for key, reason in ((revoked, "revoked"), (expired, "expired"), (rotated, f"replaced by {successor.key_id}")):
        with pytest.raises(ValueError, match=reason):
            key.rotate(overlap=HOUR)
    assert ApiKey.objects.count() == 4
