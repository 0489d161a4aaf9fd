"""From a message to its arrival, whatever goes wrong in between: it arrives, and others are not held up."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from operator import attrgetter
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from partners.models import Partner
from partners.webhooks import attempts, claims, endpoints, health, outbox
from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.claims import Attempted
from partners.webhooks.models import (
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookMessage,
)
from tests.factories.ledger import BASE
from tests.factories.partners import PartnerFactory
from tests.factories.webhooks import a_message, age, an_endpoint, issued, owner_of
from tests.partners.webhooks.stepwise import StepwiseDeliverer
from tests.webhook_receiver import Receiver, answers

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
FAILED, SUCCEEDED = AttemptOutcome(5, 500, "status"), AttemptOutcome(5, 204)


def states() -> list[tuple[str, int]]:
    """Return status and attempts of every delivery, the oldest message first."""
    return list(WebhookDelivery.objects.order_by("message__occurred_at").values_list("status", "attempts"))


def make_due() -> None:
    WebhookDelivery.objects.filter(status="pending").update(next_attempt_at=timezone.now())


def fail(endpoint: WebhookEndpoint, times: int) -> None:
    """Record failures in a row, each of a message of its own."""
    for _ in range(times):
        a_message(endpoint.partner)
    outbox.dispatch()
    while claimed := claims.claim(100):
        claims.record([Attempted(one, FAILED) for one in claimed])


def test_a_message_arrives_signed_with_what_happened(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    created = issued(partner, receiver.url)
    message = a_message(partner)
    assert deliverer.deliver_due() == 1
    (received,) = receiver.received
    assert received.json == {
        "type": "sweep.completed",
        "timestamp": message.occurred_at.isoformat().replace("+00:00", "Z"),
        "data": {
            "sweepId": str(message.sweep_ref),
            "clientReference": "order 7",
            "chain": "local",
            "status": "completed",
            "final": False,
            "sequence": 1,
            "txHash": f"0x{'ab' * 32}",
        },
    }
    assert received.headers["webhook-id"] == str(message.id)
    timestamp = int(received.headers["webhook-timestamp"])
    assert abs(timestamp - time.time()) < 60
    assert Webhook(created.secret).verify(received.body, received.headers) == received.json
    assert received.headers["content-type"] == "application/json"
    delivery = WebhookDelivery.objects.get()
    assert (delivery.status, delivery.attempts, delivery.next_attempt_at, delivery.lease_token) == (
        "delivered",
        1,
        None,
        None,
    )
    attempt = WebhookAttempt.objects.get()
    assert (attempt.number, attempt.http_status, attempt.error) == (1, 204, "")


def test_a_full_message_has_the_sweep_as_it_is_when_it_is_sent(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    an_endpoint(partner, receiver.url, payload="full")
    message = a_message(partner)
    deliverer.deliver_due()
    data = receiver.received[0].json["data"]
    assert data["sweep"] == {"sweepId": str(message.sweep_ref), "open": True}
    assert (data["sweepId"], data["sequence"]) == (str(message.sweep_ref), 1)


def test_each_endpoint_receives_what_it_chose(
    partner: Partner, start_receiver: Callable[[], Receiver], deliverer: StepwiseDeliverer
) -> None:
    everything, failures, final = (start_receiver() for _ in range(3))
    an_endpoint(partner, everything.url)
    an_endpoint(partner, failures.url, types=["sweep.failed"])
    an_endpoint(partner, final.url, timing="final")
    a_message(partner, "sweep.failed")
    a_message(partner, "sweep.failed", is_final=True)
    a_message(partner, "sweep.completed")
    a_message(partner, "sweep.finalized", is_final=True)
    deliverer.deliver_due()

    def arrived(receiver: Receiver) -> list[tuple[str, bool]]:
        shown = (received.json for received in receiver.received)
        return sorted((body["type"], body["data"]["final"]) for body in shown)

    failed = [("sweep.failed", False), ("sweep.failed", True)]
    assert arrived(everything) == [("sweep.completed", False), *failed, ("sweep.finalized", True)]
    assert arrived(failures) == failed
    assert arrived(final) == [("sweep.failed", True), ("sweep.finalized", True)]


def test_messages_of_another_partner_or_of_the_other_mode_are_not_received(
    partner: Partner, start_receiver: Callable[[], Receiver], deliverer: StepwiseDeliverer
) -> None:
    others, live = start_receiver(), start_receiver()
    an_endpoint(PartnerFactory.create(), others.url)
    WebhookEndpoint.objects.filter(id=an_endpoint(partner, live.url).id).update(mode="live")
    a_message(partner)
    assert deliverer.deliver_due() == 0
    assert (others.received, live.received) == ([], [])
    assert WebhookMessage.objects.get().dispatched_at is not None


def test_live_networks_are_for_live_endpoints(
    partner: Partner, start_receiver: Callable[[], Receiver], deliverer: StepwiseDeliverer
) -> None:
    test, live = start_receiver(), start_receiver()
    an_endpoint(partner, test.url)
    WebhookEndpoint.objects.filter(id=an_endpoint(partner, live.url).id).update(mode="live")
    a_message(partner, network=BASE)
    assert deliverer.deliver_due() == 1
    assert (len(test.received), len(live.received)) == (0, 1)


def test_a_failure_is_tried_again_with_longer_and_longer_pauses_for_three_days(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    receiver.behave = answers(500)
    endpoint = an_endpoint(partner, receiver.url)
    a_message(partner)
    pauses = []
    outbox.dispatch()
    delivery = WebhookDelivery.objects.get()
    while delivery.status == "pending":
        WebhookEndpoint.objects.update(failures=0, failing_since=None, paused_until=None)
        assert deliverer.deliver_due() == 1
        delivery.refresh_from_db()
        if delivery.next_attempt_at is not None:
            pause = delivery.next_attempt_at - timezone.now()
            pauses.append(pause.total_seconds())
            age(delivery, pause)
    steps = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, *[28_800] * 20]
    assert all(0.85 * step < pause < 1.15 * step for step, pause in zip(steps, pauses, strict=False))
    assert 2 * DAY.total_seconds() < sum(pauses) <= 3 * DAY.total_seconds()
    assert (delivery.status, delivery.attempts, len(receiver.received)) == ("failed", len(pauses) + 1, len(pauses) + 1)
    assert len({received.headers["webhook-id"] for received in receiver.received}) == 1
    assert list(endpoints.deliveries_of(endpoint).get().made.values_list("number", flat=True)) == list(
        range(1, len(pauses) + 2)
    )


@pytest.mark.parametrize("status", [302, 500])
def test_a_message_arrives_after_a_failure_with_the_same_id(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer, status: int
) -> None:
    receiver.behave = answers(status)
    an_endpoint(partner, receiver.url)
    a_message(partner)
    deliverer.deliver_due()
    assert states() == [("pending", 1)]
    receiver.behave = answers(200)
    assert deliverer.deliver_due() == 0
    make_due()
    deliverer.deliver_due()
    assert states() == [("delivered", 2)]
    first, second = receiver.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)


def test_a_delivery_whose_process_died_is_made_by_another_once_its_lease_ends(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    an_endpoint(partner, receiver.url)
    a_message(partner)
    outbox.dispatch()
    (lost,) = claims.claim(10)
    assert (deliverer.deliver_due(), receiver.received) == (0, [])
    age(lost.delivery, claims.LEASE)
    assert deliverer.deliver_due() == 1
    assert states() == [("delivered", 1)]
    claims.record([Attempted(lost, FAILED)])  # it was frozen, and goes on
    assert states() == [("delivered", 1)]
    assert WebhookAttempt.objects.count() == 1
    assert WebhookEndpoint.objects.get().failures == 0


def test_an_outcome_that_the_database_did_not_take_is_recorded_later(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_endpoint(partner, receiver.url)
    a_message(partner)
    record = claims.record

    def unreachable(_attempts: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(claims, "record", unreachable)
    with pytest.raises(ConnectionError):
        deliverer.deliver_due()
    monkeypatch.setattr(claims, "record", record)
    deliverer.deliver_due()
    assert (states(), len(receiver.received)) == ([("delivered", 1)], 1)


def test_an_endpoint_has_at_most_four_deliveries_in_flight(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    an_endpoint(partner, receiver.url)
    for _ in range(12):
        a_message(partner)
    receiver.behave = receiver.gather(4)
    assert deliverer.deliver_due() == 12
    assert receiver.most_at_once == 4
    assert states() == [("delivered", 1)] * 12


def test_several_processes_share_the_four(partner: Partner) -> None:
    an_endpoint(partner)
    for _ in range(12):
        a_message(partner)
    outbox.dispatch()
    first, second = claims.claim(3), claims.claim(10)
    assert (len(first), len(second), claims.claim(10)) == (3, 1, [])
    claims.record([Attempted(one, SUCCEEDED) for one in first])
    assert len(claims.claim(10)) == 3


def test_four_deliveries_whose_leases_ended_are_claimed_again(partner: Partner) -> None:
    an_endpoint(partner)
    for _ in range(4):
        a_message(partner)
    outbox.dispatch()
    assert len(claims.claim(10)) == 4
    make_due()
    assert len(claims.claim(10)) == 4


def test_all_endpoints_of_a_partner_have_eight_deliveries_in_flight(partner: Partner) -> None:
    live = [an_endpoint(partner).id for _ in range(5)]
    WebhookEndpoint.objects.filter(id__in=live).update(mode="live")
    for _ in range(5):
        an_endpoint(partner)
    before = timezone.now() - timedelta(minutes=1)
    for _ in range(4):
        a_message(partner, occurred_at=before)
        a_message(partner, occurred_at=before, network=BASE)
    outbox.dispatch()
    other = an_endpoint(PartnerFactory.create())
    for _ in range(4):
        a_message(other.partner)
    outbox.dispatch()
    claimed = claims.claim(64)
    counted = Counter(one.delivery.endpoint.partner_id for one in claimed)
    assert counted == {partner.id: 8, other.partner_id: 4}
    assert claims.claim(64) == []
    ended = [one for one in claimed if one.delivery.endpoint.partner_id == partner.id][:3]
    claims.record([Attempted(one, SUCCEEDED) for one in ended])
    assert len(claims.claim(64)) == 3


def test_what_is_in_flight_to_a_deleted_endpoint_counts_for_its_partner(partner: Partner) -> None:
    gone = [an_endpoint(partner) for _ in range(2)]
    for _ in range(4):
        a_message(partner)
    outbox.dispatch()
    assert len(claims.claim(64)) == 8
    for endpoint in gone:
        endpoints.delete(owner_of(partner), endpoint.id)
    an_endpoint(partner)
    a_message(partner)
    outbox.dispatch()
    assert claims.claim(64) == []
    make_due()
    assert len(claims.claim(64)) == 1


def test_an_endpoint_that_fails_has_one_delivery_in_flight_until_it_succeeds(partner: Partner) -> None:
    endpoint = an_endpoint(partner)
    fail(endpoint, 1)
    for _ in range(8):
        a_message(partner)
    outbox.dispatch()
    (probe,) = claims.claim(10)
    assert claims.claim(10) == []
    claims.record([Attempted(probe, SUCCEEDED)])
    assert len(claims.claim(10)) == 4


def test_an_endpoint_that_hangs_slows_no_other(
    partner: Partner,
    start_receiver: Callable[[], Receiver],
    deliverer: StepwiseDeliverer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Let the first endpoint answer only once everything has arrived at the second."""
    hanging, quick = start_receiver(), start_receiver()
    monkeypatch.setattr(attempts, "TOTAL_SECONDS", 30.0)
    an_endpoint(partner, hanging.url)
    an_endpoint(partner, quick.url)
    count = 40

    def release(handler: object) -> None:
        if len(quick.received) == count:
            hanging.released.set()
        answers(204)(handler)  # type: ignore[arg-type]

    hanging.behave, quick.behave = hanging.hang, release
    for _ in range(count):
        a_message(partner)
    deliverer.threads = 8
    deliverer.deliver_due()
    assert len(quick.received) == count
    assert hanging.most_at_once <= 4


def test_the_longest_waiting_deliveries_are_made_first(partner: Partner) -> None:
    endpoint, others = an_endpoint(partner), an_endpoint(PartnerFactory.create())
    late, early = a_message(partner), a_message(others.partner)
    outbox.dispatch()
    age(WebhookDelivery.objects.get(message=early), DAY)
    (first,) = claims.claim(1)
    (second,) = claims.claim(1)
    assert (first.delivery.message, second.delivery.message) == (early, late)
    assert second.delivery.endpoint == endpoint


def test_a_suspended_partner_receives_nothing_until_it_is_active_again(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    an_endpoint(partner, receiver.url)
    a_message(partner)
    Partner.objects.filter(id=partner.id).update(status="suspended")
    assert deliverer.deliver_due() == 0
    Partner.objects.filter(id=partner.id).update(status="active")
    assert deliverer.deliver_due() == 1


def test_an_endpoint_that_keeps_failing_is_paused_and_probed_with_one_delivery(partner: Partner) -> None:
    endpoint = an_endpoint(partner)
    fail(endpoint, 10)
    endpoint.refresh_from_db()
    assert endpoint.failures == 10
    assert endpoint.paused_until is None  # for seconds only, as while it is restarted
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(minutes=1))
    fail(endpoint, 1)
    endpoint.refresh_from_db()
    assert endpoint.paused_until is not None
    make_due()
    assert claims.claim(10) == []
    assert claims.backlog().rows == 0
    WebhookEndpoint.objects.update(paused_until=timezone.now())
    (probe,) = claims.claim(10)
    claims.record([Attempted(probe, FAILED)])
    endpoint.refresh_from_db()
    assert endpoint.paused_until is not None
    assert endpoint.paused_until > timezone.now() + timedelta(minutes=4)
    WebhookEndpoint.objects.update(paused_until=timezone.now())
    claims.record([Attempted(claims.claim(10)[0], SUCCEEDED)])
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since, endpoint.paused_until) == (0, None, None)


def test_an_endpoint_is_disabled_after_three_days_and_the_partners_others_are_notified(
    partner: Partner, start_receiver: Callable[[], Receiver], deliverer: StepwiseDeliverer
) -> None:
    broken = an_endpoint(partner, "https://gone.example/")
    fail(broken, 10)
    WebhookEndpoint.objects.update(failing_since=timezone.now() - 3 * DAY, paused_until=timezone.now())
    well, other_partners, test = start_receiver(), start_receiver(), start_receiver()
    an_endpoint(partner, well.url, types=["sweep.finalized"])
    an_endpoint(PartnerFactory.create(), other_partners.url)
    WebhookEndpoint.objects.filter(id=an_endpoint(partner, test.url).id).update(mode="live")
    make_due()
    (probe,) = claims.claim(10)
    claims.record([Attempted(probe, FAILED)])
    broken.refresh_from_db()
    assert not broken.is_enabled
    assert broken.disabled_reason.startswith("Every attempt since ")
    assert broken.disabled_reason.endswith(" UTC failed, the last with HTTP 500.")
    deliverer.deliver_due()
    (notice,) = well.received
    assert (notice.json["type"], notice.json["data"]) == (
        "webhook.disabled",
        {"endpointId": str(broken.id), "url": "https://gone.example/", "reason": broken.disabled_reason},
    )
    assert (other_partners.received, test.received) == ([], [])


@pytest.mark.parametrize("was_paused", [True, False])
def test_a_failure_weeks_after_the_last_one_is_the_first_of_its_row(partner: Partner, *, was_paused: bool) -> None:
    """All deliveries were given up, and nothing was sent in between."""
    endpoint, now = an_endpoint(partner), timezone.now()
    WebhookEndpoint.objects.update(
        failures=40 if was_paused else 9,
        failing_since=now - 23 * DAY,
        paused_until=now - 20 * DAY if was_paused else None,
    )
    fail(endpoint, 1)
    endpoint.refresh_from_db()
    assert (endpoint.is_enabled, endpoint.failures, endpoint.paused_until) == (True, 1, None)
    assert endpoint.failing_since is not None
    assert endpoint.failing_since >= now


def test_failures_with_the_longest_retry_between_them_are_in_a_row(partner: Partner) -> None:
    endpoint, now = an_endpoint(partner), timezone.now()
    retry = timedelta(seconds=claims.RETRY_SECONDS[-1] * (1 + claims.JITTER))
    WebhookEndpoint.objects.update(failures=12, failing_since=now - DAY, paused_until=now - retry + health.PROBED_EVERY)
    fail(endpoint, 1)
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since) == (13, now - DAY)
    assert endpoint.paused_until is not None
    assert endpoint.paused_until > now


def test_what_waits_for_a_disabled_endpoint_is_sent_once_it_is_enabled(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    endpoint, owner = an_endpoint(partner, receiver.url), owner_of(partner)
    a_message(partner)
    outbox.dispatch()
    endpoints.change(owner, endpoint.id, {"is_enabled": False})
    a_message(partner)
    assert deliverer.deliver_due() == 0
    endpoints.change(owner, endpoint.id, {"is_enabled": True})
    assert deliverer.deliver_due() == 1
    assert WebhookDelivery.objects.count() == 1  # nothing of what occurred in between


def test_a_deleted_endpoint_receives_nothing(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    endpoint = an_endpoint(partner, receiver.url)
    a_message(partner)
    outbox.dispatch()
    endpoints.delete(owner_of(partner), endpoint.id)
    a_message(partner)
    assert (deliverer.deliver_due(), receiver.received) == (0, [])


def test_a_delivery_whose_endpoint_is_deleted_while_it_is_claimed_is_dropped(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    endpoint = an_endpoint(partner, receiver.url)
    a_message(partner)

    def delete_before_read(execute: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("SELECT") and "partners_webhookmessage" in sql:
            endpoints.delete(owner_of(partner), endpoint.id)
        return execute(sql, *arguments)

    with connection.execute_wrapper(delete_before_read):
        assert deliverer.deliver_due() == 0
    endpoint.refresh_from_db()
    assert (receiver.received, endpoint.failures, endpoint.deleted_at is None) == ([], 0, False)


def test_messages_are_signed_with_both_secrets_for_a_day_after_a_rotation(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    old = issued(partner, receiver.url)
    new = endpoints.rotate_secret(owner_of(partner), old.endpoint.id)
    a_message(partner)
    deliverer.deliver_due()
    WebhookEndpoint.objects.update(former_secret_until=timezone.now())
    a_message(partner)
    deliverer.deliver_due()
    during, after = receiver.received
    for secret, received in ((old.secret, during), (new.secret, during), (new.secret, after)):
        assert Webhook(secret).verify(received.body, received.headers) == received.json
    for secret, body in ((old.secret, after.body), (new.secret, after.body + b" "), (new.secret, during.body)):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, after.headers)


def test_a_secret_that_no_key_reads_is_a_failure_and_holds_up_no_other(
    partner: Partner, start_receiver: Callable[[], Receiver], deliverer: StepwiseDeliverer
) -> None:
    unreadable, well = start_receiver(), start_receiver()
    broken = an_endpoint(partner, unreadable.url)
    WebhookEndpoint.objects.filter(id=broken.id).update(secret=an_endpoint(partner, well.url).secret)
    a_message(partner)
    deliverer.deliver_due()
    assert (len(unreadable.received), len(well.received)) == (0, 1)
    assert sorted(WebhookDelivery.objects.values_list("status", flat=True)) == ["delivered", "pending"]


def test_the_oldest_messages_are_dispatched_first(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "BATCH_ROWS", 1)
    now = timezone.now()
    a_message(partner, occurred_at=now)
    older = a_message(partner, occurred_at=now - DAY)
    assert outbox.dispatch() == 1
    assert WebhookMessage.objects.exclude(dispatched_at=None).get() == older


def test_a_disabled_endpoint_has_no_delivery_of_a_message_that_is_dispatched_meanwhile(partner: Partner) -> None:
    endpoint = an_endpoint(partner)
    endpoints.change(owner_of(partner), endpoint.id, {"is_enabled": False})
    a_message(partner)
    assert (outbox.dispatch(), WebhookDelivery.objects.count()) == (1, 0)


def test_a_replay_leaves_a_message_to_its_dispatch_that_was_not_dispatched_yet(partner: Partner) -> None:
    endpoint = an_endpoint(partner)
    a_message(partner)
    assert endpoints.replay(owner_of(partner), endpoint.id, since=timezone.now() - DAY).scheduled == 0


def test_a_replay_leaves_out_pings(partner: Partner) -> None:
    endpoint = an_endpoint(partner)
    endpoints.ping(owner_of(partner), endpoint.id)
    WebhookDelivery.objects.update(status="delivered", next_attempt_at=None, completed_at=timezone.now())
    assert endpoints.replay(owner_of(partner), endpoint.id, since=timezone.now() - DAY).scheduled == 0


def test_a_replay_delivers_what_an_endpoint_had_and_what_it_never_had(
    partner: Partner, receiver: Receiver, deliverer: StepwiseDeliverer
) -> None:
    before = [a_message(partner, occurred_at=timezone.now() - timedelta(hours=hours)) for hours in (3, 2)]
    outbox.dispatch()
    endpoint, owner = an_endpoint(partner, receiver.url), owner_of(partner)
    after = a_message(partner)
    deliverer.deliver_due()
    replayed = endpoints.replay(owner, endpoint.id, from_message_id=before[1].id)
    assert (replayed.scheduled, replayed.next_message_id) == (2, None)
    deliverer.deliver_due()
    arrived = [received.headers["webhook-id"] for received in receiver.received]
    assert arrived[:1] == [str(after.id)]
    assert sorted(arrived[1:]) == sorted([str(before[1].id), str(after.id)])
    assert endpoints.replay(owner, endpoint.id, since=before[0].occurred_at).scheduled == 3
    deliverer.deliver_due()
    assert len(receiver.received) == 6
    numbers = WebhookAttempt.objects.filter(delivery__message=after).values_list("number", flat=True)
    assert list(numbers) == [1, 2, 3]


def test_a_replay_is_claimed_oldest_first_whatever_the_endpoint_had(partner: Partner) -> None:
    ages = [timedelta(hours=hours) for hours in (2, 7, 1, 5, 3, 6, 4)]
    messages = [a_message(partner, occurred_at=timezone.now() - age) for age in ages]
    WebhookMessage.objects.filter(id__in=[message.id for message in messages[3:]]).update(dispatched_at=timezone.now())
    endpoint = an_endpoint(partner)
    outbox.dispatch()
    WebhookDelivery.objects.update(status="delivered", next_attempt_at=None, completed_at=timezone.now())
    assert endpoints.replay(owner_of(partner), endpoint.id, since=timezone.now() - DAY).scheduled == 7
    times = WebhookDelivery.objects.order_by("message__occurred_at").values_list("next_attempt_at", flat=True)
    due = [at for at in times if at is not None]
    assert (len(due), due) == (7, sorted(set(due)))
    claimed = [one.delivery.message for _ in range(4) for one in claims.claim(1)]
    assert claimed == sorted(messages, key=attrgetter("occurred_at"))[:4]


def test_a_replay_leaves_out_what_the_endpoint_did_not_choose_and_what_is_still_pending(partner: Partner) -> None:
    endpoint, owner = an_endpoint(partner, types=["sweep.completed"]), owner_of(partner)
    a_message(partner, "sweep.failed")
    a_message(partner)
    a_message(PartnerFactory.create())
    endpoints.ping(owner, endpoint.id)
    outbox.dispatch()
    assert endpoints.replay(owner, endpoint.id, since=timezone.now() - DAY).scheduled == 0
    assert states() == [("pending", 0), ("pending", 0)]


def test_a_long_replay_says_from_which_message_to_go_on(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_REPLAYED", 2)
    at = timezone.now()
    messages = sorted((a_message(partner, occurred_at=at) for _ in range(5)), key=lambda message: message.id)
    outbox.dispatch()
    endpoint, owner = an_endpoint(partner), owner_of(partner)
    first = endpoints.replay(owner, endpoint.id, since=at)
    assert (first.scheduled, first.next_message_id) == (2, messages[2].id)
    second = endpoints.replay(owner, endpoint.id, from_message_id=messages[2].id)
    assert (second.scheduled, second.next_message_id) == (2, messages[4].id)
    assert endpoints.replay(owner, endpoint.id, from_message_id=messages[4].id).next_message_id is None
    assert set(WebhookDelivery.objects.values_list("message", flat=True)) == {message.id for message in messages}


def test_old_messages_are_deleted_unless_they_are_still_delivered(partner: Partner) -> None:
    an_endpoint(partner)
    old = timezone.now() - timedelta(days=31)
    forgotten, replayed, recent = (
        a_message(partner, occurred_at=old),
        a_message(partner, occurred_at=old),
        a_message(partner),
    )
    waiting = a_message(PartnerFactory.create(), occurred_at=old)
    WebhookMessage.objects.filter(id__in=[forgotten.id, replayed.id, recent.id]).update(dispatched_at=old)
    endpoint = WebhookEndpoint.objects.get()
    for message in (forgotten, replayed):
        WebhookDelivery.objects.create(message=message, endpoint=endpoint)
    WebhookDelivery.objects.filter(message=forgotten).update(started_at=old)
    endpoints.purge()
    assert set(WebhookMessage.objects.all()) == {replayed, recent, waiting}


def test_the_backlog_counts_messages_and_deliveries_that_are_due(partner: Partner) -> None:
    an_endpoint(partner)
    assert (claims.backlog().rows, claims.backlog().oldest) == (0, timedelta(0))
    a_message(partner, occurred_at=timezone.now() - timedelta(minutes=2))
    assert claims.backlog().rows == 1
    assert claims.backlog().oldest >= timedelta(minutes=2)
    outbox.dispatch()
    waiting = claims.backlog()
    assert (waiting.rows, waiting.oldest < timedelta(minutes=2)) == (1, True)
    claims.claim(1)
    assert claims.backlog().rows == 0
