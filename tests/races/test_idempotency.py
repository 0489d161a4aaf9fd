"""Requests with the same Idempotency-Key at the same time have one effect, also if one of them died before."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
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
from tests.races.interleaving import Race, Rival, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/v2/sweep/build"


@dataclass(frozen=True)
class Sender:
    """A partner that sends one request, perhaps several times."""

    partner: Partner
    claimed: list[IdempotencyRecord] = field(default_factory=list)  # and not answered yet

    def claim(self) -> IdempotencyRecord:
        return idempotency.claim(partner_id=self.partner.id, mode=Mode.TEST, path=PATH, key="one", body={})


def new() -> Sender:
    return Sender(PartnerFactory.create())


def wait(*, seconds: int) -> None:
    IdempotencyRecord.objects.update(started_at=F("started_at") - timedelta(seconds=seconds))


def died_a_minute_ago() -> Sender:
    sender = new()
    sender.claim()
    wait(seconds=61)
    return sender


def died_a_day_ago() -> Sender:
    sender = new()
    sender.claim()
    wait(seconds=24 * 3600 + 1)
    return sender


def at_work_for_a_minute() -> Sender:
    sender = new()
    sender.claimed.append(sender.claim())
    wait(seconds=61)
    return sender


# --- what may happen to a request, whose effect is a row; a refused one is repeated by its sender ---------------------


def sent(sender: Sender, *, seconds: int = 0) -> None:
    with suppress(IdempotencyInProgress):
        record = sender.claim()
        if record.status is None:
            wait(seconds=seconds)
            with transaction.atomic():
                FeeShareFactory.create(partner=sender.partner, share_bps=1)
                idempotency.keep(record, status=201, body=b"{}")


def sent_slowly(sender: Sender) -> None:
    sent(sender, seconds=61)


def ended_late(sender: Sender) -> None:
    with transaction.atomic():
        FeeShareFactory.create(partner=sender.partner, share_bps=1)
        idempotency.keep(sender.claimed[0], status=201, body=b"{}")


def failed_slowly(sender: Sender) -> None:
    with suppress(IdempotencyInProgress):
        record = sender.claim()
        if record.status is None:
            wait(seconds=61)
            idempotency.release(record)


def purged(_sender: Sender) -> None:
    idempotency.purge()


def effects(_sender: Sender) -> Any:
    kept = [(record.status, bytes(record.body or b"")) for record in IdempotencyRecord.objects.all()]
    return FeeShare.objects.filter(share_bps=1).count(), kept


@pytest.mark.parametrize("stage", [new, died_a_minute_ago, died_a_day_ago])
def test_two_requests_under_one_key_have_one_effect(stage: Callable[[], Sender]) -> None:
    assert_serial(Race(stage, sent, sent, effects))


@pytest.mark.parametrize("stage", [new, died_a_minute_ago, died_a_day_ago])
def test_one_of_two_requests_claims_the_key_and_the_other_is_refused_meanwhile(stage: Callable[[], Sender]) -> None:
    def claims(sender: Sender) -> bool:
        return sender.claim().status is None

    assert_serial(Race(stage, claims, claims, effects))


def test_a_request_that_was_overtaken_has_no_effect() -> None:
    assert_serial(Race(new, sent_slowly, sent, effects))


def test_a_request_that_ends_while_another_takes_it_over_has_its_effect_or_the_other_one_has() -> None:
    assert_serial(Race(at_work_for_a_minute, sent, ended_late, effects))


def test_a_request_that_fails_after_it_was_overtaken_releases_nothing() -> None:
    while_at_work: tuple[None, None, tuple[int, list[int]]] = (None, None, (0, []))
    assert_serial(Race(new, failed_slowly, sent, effects), also=while_at_work)


def test_a_key_that_is_claimed_again_is_not_purged() -> None:
    assert_serial(Race(died_a_day_ago, sent, purged, effects))


def test_a_key_that_is_claimed_while_a_purge_selects_it_is_kept() -> None:
    sender, purge = died_a_day_ago(), Rival(idempotency.purge)
    with transaction.atomic():
        sender.claim()
        purge.run_until_it_waits()
    purge.end()
    assert purge.has_waited
    assert IdempotencyRecord.objects.count() == 1
