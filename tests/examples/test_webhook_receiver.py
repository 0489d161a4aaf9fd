"""The example receiver takes what we signed, once each and in the order of the sweep, and nothing else."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from partners.models import Partner
from partners.webhooks import endpoints, signing
from partners.webhooks.public_events import PING
from tests import webhook_receiver
from tests.examples.loading import load_example
from tests.factories.webhooks import a_message, issued, owner_of
from tests.partners.webhooks.stepwise import StepwiseDeliverer
from tests.webhook_receiver import Received

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def example() -> Any:
    """The example as a module; it listens only if it is run."""
    return load_example("webhook_receiver")


def sent_to(partner: Partner) -> tuple[list[str], Received]:
    """Return the secrets of an endpoint, the former one first, and a message that it received after a rotation."""
    with webhook_receiver.running() as receiver:
        former = issued(partner, receiver.url)
        current = endpoints.rotate_secret(owner_of(partner), former.endpoint.id)
        a_message(partner)
        StepwiseDeliverer(lambda _: {}).deliver_due()
        (received,) = receiver.received
    return [former.secret, current.secret], received


def test_what_we_send_is_genuine_under_both_secrets_of_a_rotation(example: Any, partner: Partner) -> None:
    secrets, received = sent_to(partner)
    assert [example.is_genuine(secret, received.headers, received.body) for secret in secrets] == [True, True]


def test_what_we_did_not_sign_or_long_ago_is_not(example: Any, partner: Partner) -> None:
    (_, secret), received = sent_to(partner)
    headers, body = received.headers, received.body
    assert not example.is_genuine(signing.generate(), headers, body)
    assert not example.is_genuine(secret, headers, body + b" ")
    for name, wrong in (
        ("webhook-id", "other"),
        ("webhook-timestamp", str(int(time.time()) - 301)),
        ("webhook-timestamp", "now"),
        ("webhook-signature", ""),
        ("webhook-signature", headers["webhook-signature"].replace("v1,", "v1a,")),
    ):
        assert not example.is_genuine(secret, {**headers, name: wrong}, body), name


def test_an_old_message_is_refused_even_with_its_signature(example: Any) -> None:
    secret, then = signing.generate(), timezone.now() - timedelta(minutes=6)
    headers = {
        "webhook-id": "m",
        "webhook-timestamp": str(int(then.timestamp())),
        "webhook-signature": signing.signature([secret], message_id="m", at=then, body=b"{}"),
    }
    assert not example.is_genuine(secret, headers, b"{}")


def test_a_message_that_arrives_again_or_late_changes_nothing(example: Any) -> None:
    inbox = example.Inbox()
    first, last = (
        {"type": kind, "data": {"sweepId": "s", "sequence": number, "final": number > 1}}
        for number, kind in enumerate(("sweep.completed", "sweep.finalized"), start=1)
    )
    for message_id, message in (("two", last), ("one", first), ("two", last)):
        inbox.take(message_id, message)
    inbox.take("three", {"type": PING, "data": {"endpointId": "e"}})
    assert (inbox.newest, len(inbox.seen)) == ({"s": last["data"]}, 3)
