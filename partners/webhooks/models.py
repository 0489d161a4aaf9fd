"""Endpoints of partners, the messages to them, and each delivery with its attempts.

A message is written in the transaction of the change that it reports: this is the outbox. A process claims messages
that are not dispatched yet, and makes a delivery of each for every endpoint that chose it. Deliveries are claimed with
a lease, attempted, and scheduled again until they succeed or are given up.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from partners.webhooks.attempts import AttemptError
from sweepapi.fields import NetworkField
from sweepapi.modes import Mode

MAX_URL_LENGTH = 2_000


class WebhookEndpoint(models.Model):
    """A URL of a partner to which messages are sent, and how it has been doing."""

    class Timing(models.TextChoices):
        """When it receives messages about a sweep."""

        INSTANT = "instant"
        FINAL = "final"  # only what can't be reversed

    class Payload(models.TextChoices):
        THIN = "thin"
        FULL = "full"  # with the sweep as it is when the message is sent

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    partner = models.ForeignKey(
        "partners.Partner", on_delete=models.PROTECT, related_name="webhook_endpoints", db_index=False
    )
    mode = models.CharField(max_length=4, choices=Mode)  # that of the keys that manage it
    url = models.CharField("URL", max_length=MAX_URL_LENGTH)
    description = models.CharField(max_length=200, blank=True)
    types = ArrayField(models.CharField(max_length=32), default=list, blank=True)  # empty: all about sweeps
    timing = models.CharField(max_length=8, choices=Timing, default=Timing.INSTANT)
    payload = models.CharField(max_length=4, choices=Payload, default=Payload.THIN)
    secret = models.TextField(editable=False)  # encrypted; blank once it is deleted
    former_secret = models.TextField(blank=True, editable=False)  # encrypted; blank unless it was rotated
    former_secret_until = models.DateTimeField(null=True, editable=False)  # null with it
    created_at = models.DateTimeField(auto_now_add=True)
    is_enabled = models.BooleanField(default=True)
    disabled_reason = models.TextField(blank=True, editable=False)  # blank unless the service disabled it
    deleted_at = models.DateTimeField(null=True, editable=False)  # null unless it was deleted

    failures = models.PositiveIntegerField(default=0, editable=False)  # attempts in a row that failed
    failing_since = models.DateTimeField(null=True, editable=False)  # null unless the last attempt failed
    paused_until = models.DateTimeField(null=True, editable=False)  # null unless paused; one delivery probes it then

    class Meta:
        ordering: ClassVar = ["created_at", "id"]
        indexes: ClassVar = [models.Index(fields=["partner", "mode"], name="webhook_endpoint_of_partner")]
        constraints: ClassVar = [
            models.CheckConstraint(name="webhook_endpoint_mode_known", condition=Q(mode__in=Mode.values)),
            models.CheckConstraint(name="webhook_endpoint_timing_known", condition=Q(timing__in=["instant", "final"])),
            models.CheckConstraint(name="webhook_endpoint_payload_known", condition=Q(payload__in=["thin", "full"])),
            models.CheckConstraint(
                name="webhook_former_secret_has_an_end",
                condition=Q(former_secret="", former_secret_until=None)
                | (~Q(former_secret="") & Q(former_secret_until__isnull=False)),
            ),
            models.CheckConstraint(
                name="webhook_endpoint_fails_since_a_time",
                condition=Q(failures=0, failing_since=None, paused_until=None)
                | Q(failures__gt=0, failing_since__isnull=False),
            ),
            models.CheckConstraint(
                name="webhook_deleted_is_not_enabled", condition=Q(deleted_at=None) | Q(is_enabled=False)
            ),
        ]

    def __str__(self) -> str:
        return self.url


class WebhookMessage(models.Model):
    """A message, which has the same id wherever and however often it is delivered."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    partner = models.ForeignKey("partners.Partner", on_delete=models.PROTECT, related_name="+", db_index=False)
    type = models.CharField(max_length=32)  # a row of ``public_events``, or about an endpoint
    network = NetworkField(null=True)  # null, as the next two, unless it is about a sweep
    sweep_ref = models.UUIDField(null=True)
    sequence = models.PositiveIntegerField(null=True)  # from 1 among the messages about a sweep, without gaps
    is_final = models.BooleanField(default=False)  # whether it can't be reversed
    occurred_at = models.DateTimeField()
    facts = models.JSONField(default=dict)
    dispatched_at = models.DateTimeField(null=True)  # null until its deliveries are stored

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["occurred_at"], condition=Q(dispatched_at=None), name="webhook_message_to_dispatch"),
            models.Index(fields=["partner", "occurred_at", "id"], name="webhook_message_of_partner"),
            BrinIndex(fields=["occurred_at"], name="webhook_message_by_age"),  # to delete old ones
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sweep_ref", "sequence"], name="webhook_message_sequence"),
            models.CheckConstraint(
                name="webhook_message_about_a_sweep",
                condition=Q(type__startswith="sweep.", network__isnull=False, sweep_ref__isnull=False, sequence__gt=0)
                | Q(type__startswith="webhook.", network=None, sweep_ref=None, sequence=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class WebhookDelivery(models.Model):
    """A message on its way to one endpoint; due at ``next_attempt_at``, which a claim sets to the end of its lease."""

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"  # given up

    id = models.UUIDField(primary_key=True, default=uuid7, db_default=RandomUUID(), editable=False)
    message = models.ForeignKey(WebhookMessage, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING, db_default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0, db_default=0)  # since it was created or replayed
    next_attempt_at = models.DateTimeField(null=True, db_default=Now())  # null unless pending
    lease_token = models.UUIDField(null=True)  # null unless a process attempts it
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(db_default=Now())  # when it was created or last replayed
    completed_at = models.DateTimeField(null=True)  # null while pending

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [
            models.Index(
                fields=["endpoint", "next_attempt_at"], condition=Q(status="pending"), name="webhook_delivery_due"
            ),
            models.Index(
                fields=["endpoint", "next_attempt_at"],
                condition=Q(lease_token__isnull=False),
                name="webhook_delivery_in_flight",
            ),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="webhook_delivery_by_time"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["message", "endpoint"], name="webhook_delivery_once"),
            models.CheckConstraint(
                name="webhook_delivery_is_due_or_done",
                condition=Q(status="pending", next_attempt_at__isnull=False, completed_at=None)
                | Q(
                    status__in=["delivered", "failed"],
                    next_attempt_at=None,
                    completed_at__isnull=False,
                    lease_token=None,
                ),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class WebhookAttempt(models.Model):
    """One request to an endpoint, and how it ended. What the endpoint answered is not kept, except for its status."""

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="made", db_index=False)
    number = models.PositiveIntegerField()  # from 1, also across replays
    at = models.DateTimeField()  # when it ended
    duration_ms = models.PositiveIntegerField("duration in ms")
    http_status = models.PositiveSmallIntegerField("HTTP status", null=True)  # null without a response
    error = models.CharField(max_length=24, choices=AttemptError, blank=True)  # blank if it succeeded

    class Meta:
        ordering: ClassVar = ["delivery", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["delivery", "number"], name="webhook_attempt_number"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.error or self.http_status}"
