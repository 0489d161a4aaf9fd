"""Requests with the same Idempotency-Key at the same time have one effect, also if one of them died before."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F

from partners import idempotency
from partners.models import FeeShare, IdempotencyRecord, Partner
from sweepapi.errors import IdempotencyInProgress
from sweepapi.modes import Mode
from tests.factories.partners import FeeShareFactory, PartnerFactory
from tests.races.interleaving import Race, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/v2/sweep/build"


@dataclass(frozen=True)
class Sender:
    """A partner that sends one request, perhaps several times."""

    partner: Partner

    def claim(self) -> IdempotencyRecord:
        return idempotency.claim(partner_id=self.partner.id, mode=Mode.TEST, path=PATH, key="one", body={})


def new() -> Sender:
    return Sender(PartnerFactory.create())


def died(*, seconds_ago: int) -> Sender:
    """Return the sender of a request whose process died then."""
    sender = new()
    sender.claim()
    IdempotencyRecord.objects.update(started_at=F("started_at") - timedelta(seconds=seconds_ago))
    return sender


def died_a_minute_ago() -> Sender:
    return died(seconds_ago=61)


def died_a_day_ago() -> Sender:
    return died(seconds_ago=24 * 3600 + 1)


def sent(sender: Sender) -> None:
    """Carry the request out once; its effect is a row."""
    try:
        record = sender.claim()
        if record.status is None:
            with transaction.atomic():
                FeeShareFactory.create(partner=sender.partner, share_bps=1)
                idempotency.keep(record, status=201, body=b"{}")
    except IdempotencyInProgress:
        return  # the caller repeats it


def purged(_sender: Sender) -> None:
    idempotency.purge()


def effects(_sender: Sender) -> Any:
    kept = [(record.status, bytes(record.body or b"")) for record in IdempotencyRecord.objects.all()]
    return FeeShare.objects.filter(share_bps=1).count(), kept


@pytest.mark.parametrize("stage", [new, died_a_minute_ago, died_a_day_ago])
def test_two_requests_under_one_key_have_one_effect(stage: Callable[[], Sender]) -> None:
    assert_serial(Race(stage, sent, sent, effects))


def test_a_key_that_is_claimed_again_is_not_purged() -> None:
    assert_serial(Race(died_a_day_ago, sent, purged, effects))
