"""Processes that deliver share the deliveries and the limit of each endpoint, whatever interrupts them."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from partners.models import Partner
from partners.webhooks import claims, endpoints, outbox
from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.claims import Attempted, Claimed
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from tests.factories.partners import PartnerFactory
from tests.factories.webhooks import a_message, an_endpoint, owner_of
from tests.races.interleaving import Race, assert_all_serial, assert_serial, waits_for
from tests.races.scenes import NEW_HOLDER

pytestmark = pytest.mark.django_db(transaction=True)

FAILED = AttemptOutcome(1, 500, "status")


@dataclass(frozen=True)
class Scene:
    """A partner's endpoint with messages, and what was claimed."""

    partner: Partner
    endpoint: WebhookEndpoint
    claimed: list[Claimed] = field(default_factory=list)


def undispatched() -> Scene:
    WebhookMessage.objects.all().delete()
    partner = PartnerFactory.create()
    scene = Scene(partner, an_endpoint(partner))
    for _ in range(6):
        a_message(partner)
    return scene


def due() -> Scene:
    scene = undispatched()
    outbox.dispatch()
    return scene


def claimed() -> Scene:
    scene = due()
    scene.claimed.extend(claims.claim(2))
    return scene


def dispatch(_scene: Scene) -> int:
    with transaction.atomic():  # so that there is a time between the statement and its commit
        return outbox.dispatch()


def claim(scene: Scene) -> None:
    scene.claimed.extend(claims.claim(3))


def record_failures(scene: Scene) -> None:
    claims.record([Attempted(one, FAILED) for one in scene.claimed[:2]])


def disable(scene: Scene) -> None:
    endpoints.change(owner_of(scene.partner), scene.endpoint.id, {"is_enabled": False})


def replay(scene: Scene) -> None:
    since = timezone.now() - timedelta(days=1)
    endpoints.replay(owner_of(scene.partner), scene.endpoint.id, since=since)


def ids(scene: Scene) -> list[UUID]:
    return [one.delivery.id for one in scene.claimed]


def is_within_limits(scene: Scene) -> tuple[bool, bool]:
    """Return whether no delivery was claimed twice, and no more than four are leased."""
    leased = WebhookDelivery.objects.filter(lease_token__isnull=False).count()
    return len(set(ids(scene))) == len(ids(scene)), leased <= claims.IN_FLIGHT


def test_each_message_is_dispatched_once() -> None:
    def deliveries(_scene: Scene) -> tuple[int, int]:
        waiting = WebhookMessage.objects.filter(dispatched_at=None).count()
        return WebhookDelivery.objects.count(), waiting

    assert_serial(Race(undispatched, dispatch, dispatch, deliveries, is_restored=False))


def test_a_dispatch_does_not_wait_for_a_message_that_is_being_written() -> None:
    scene = undispatched()
    first = WebhookMessage.objects.filter(id=WebhookMessage.objects.earliest("occurred_at").id)
    assert not waits_for(first, lambda: dispatch(scene))
    assert WebhookMessage.objects.get(dispatched_at=None) == first.get()


def test_two_claims_share_the_deliveries_and_the_limit() -> None:
    assert_serial(Race(due, claim, claim, is_within_limits, is_restored=False))


def test_a_claim_does_not_wait_for_an_endpoint_that_is_being_written() -> None:
    written, other = undispatched(), PartnerFactory.create()
    an_endpoint(other)
    a_message(other)
    outbox.dispatch()
    assert not waits_for(WebhookEndpoint.objects.filter(id=written.endpoint.id), lambda: claim(written))
    assert [one.delivery.endpoint.partner_id for one in written.claimed] == [other.id]


def test_two_processes_share_the_limit_of_a_partner() -> None:
    """One claims for an endpoint that the other did not lock, as it was disabled then."""

    def one_disabled() -> Scene:
        scene = undispatched()
        for _ in range(2):
            an_endpoint(scene.partner)
        outbox.dispatch()
        WebhookEndpoint.objects.filter(id=scene.endpoint.id).update(is_enabled=False)
        return scene

    def claim_all(scene: Scene) -> None:
        scene.claimed.extend(claims.claim(64))

    def enable_and_claim(scene: Scene) -> None:
        endpoints.enable(owner_of(scene.partner), scene.endpoint.id)
        scene.claimed.extend(claims.claim(64))

    def leased(_scene: Scene) -> int:
        return WebhookDelivery.objects.filter(lease_token__isnull=False).count()

    assert_serial(Race(one_disabled, claim_all, enable_and_claim, leased, is_restored=False))


def test_each_failure_counts_if_two_processes_record_at_once() -> None:
    def record_first(scene: Scene) -> None:
        claims.record([Attempted(scene.claimed[0], FAILED)])

    def record_second(scene: Scene) -> None:
        claims.record([Attempted(scene.claimed[1], FAILED)])

    def failures(scene: Scene) -> int:
        return WebhookEndpoint.objects.get(id=scene.endpoint.id).failures

    assert_serial(Race(claimed, record_first, record_second, failures, is_restored=False))


def test_an_attempt_whose_delivery_another_process_leased_meanwhile_is_not_recorded() -> None:
    scene = claimed()
    lease_of_another = WebhookDelivery.objects.filter(lease_token__isnull=False)
    lease_of_another.update(lease_token=NEW_HOLDER)
    record_failures(scene)
    assert set(lease_of_another.values_list("lease_token", "attempts")) == {(NEW_HOLDER, 0)}
    assert lease_of_another.count() == 2


def test_two_changes_of_an_endpoint_are_both_kept() -> None:
    def describe(scene: Scene) -> None:
        endpoints.change(owner_of(scene.partner), scene.endpoint.id, {"description": "Ours."})

    def choices(scene: Scene) -> tuple[bool, str]:
        endpoint = WebhookEndpoint.objects.get(id=scene.endpoint.id)
        return endpoint.is_enabled, endpoint.description

    assert_serial(Race(undispatched, disable, describe, choices, is_restored=False))


def test_a_record_a_claim_a_replay_and_a_change_do_not_wait_for_each_other_in_a_circle() -> None:
    for one in (record_failures, replay, disable):
        assert_serial(Race(claimed, one, claim, is_within_limits, is_restored=False))


def test_two_requests_do_not_add_an_eleventh_endpoint() -> None:
    def nine() -> Scene:
        partner = PartnerFactory.create()
        made = [an_endpoint(partner) for _ in range(endpoints.MAX_ENDPOINTS - 1)]
        return Scene(partner, made[0])

    def add(scene: Scene) -> None:
        an_endpoint(scene.partner)

    def count(scene: Scene) -> int:
        return owner_of(scene.partner).endpoints().count()

    assert_all_serial(nine, count, [add])
