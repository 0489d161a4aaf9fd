"""Processes that deliver share the deliveries and the limit of each endpoint, whatever interrupts them."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from partners.models import Partner
from partners.webhooks import claims, endpoints, outbox
from partners.webhooks.attempts import Outcome
from partners.webhooks.claims import Attempted, Claimed
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from tests.factories.partners import PartnerFactory
from tests.factories.webhooks import a_message, an_endpoint, owner_of
from tests.races.interleaving import Race, assert_all_serial, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)


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


def dispatch(_scene: Scene) -> None:
    outbox.dispatch()


def claim(scene: Scene) -> None:
    scene.claimed.extend(claims.claim(3))


def record_failures(scene: Scene) -> None:
    claims.record([Attempted(one, Outcome(1, 500, "status")) for one in scene.claimed[:2]])


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


def test_two_claims_share_the_deliveries_and_the_limit() -> None:
    assert_serial(Race(due, claim, claim, is_within_limits, is_restored=False))


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
