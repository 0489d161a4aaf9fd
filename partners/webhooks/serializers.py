"""The JSON of webhook endpoints, their deliveries, and the requests to manage them."""

from pathlib import Path
from typing import Any, cast

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from partners.webhooks.attempts import AttemptError
from partners.webhooks.endpoints import Choices
from partners.webhooks.models import (
    MAX_URL_LENGTH,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)
from partners.webhooks.public_events import MESSAGE_TYPES, SWEEP_TYPES
from partners.webhooks.targets import target_of
from sweepapi.api.input.fields import (
    OpenEnumField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    UtcDateTimeField,
    UuidTextField,
)
from sweepapi.api.input.lists import StrictListField
from sweepapi.api.input.pagination import PageQuery
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.api.openapi.schema import example

EXAMPLES = Path(__file__).parent / "examples"
_TYPES = "Which messages it receives; null for all about sweeps, also of types that are added later."
_TIMING = (
    "`instant`: every change, also one that a reorganisation may reverse. `final`: only what can't be reversed, so "
    "`sweep.finalized`, and of `sweep.failed`, `sweep.expired` and `sweep.voided` those with `final: true`."
)
_PAYLOAD = "`full` adds the sweep's status object, as it is when the message is sent, as `sweep` to the data."
_DESCRIPTION = "Yours, shown as you sent it."
_REST = "[a-zA-Z0-9-]{0,61}[a-zA-Z0-9]"
_CHARACTER = "([a-zA-Z0-9._~:/?@!$&'()*+,;=-]|%[0-9a-fA-F]{2})"


@extend_schema_field(
    {
        "type": "string",
        "format": "uri",
        "pattern": rf"^https://([a-zA-Z0-9]({_REST})?\.)+[a-zA-Z]({_REST})?(:(443|8443))?([/?]{_CHARACTER}*)?$",
        "maxLength": MAX_URL_LENGTH,
        "examples": ["https://partner.example/webhooks"],
    }
)
class TargetField(StrictCharField):
    """A URL to which messages can be sent."""

    def to_internal_value(self, data: str) -> str:
        """Return the URL unchanged."""
        url = super().to_internal_value(data)
        try:
            target_of(url)
        except ValueError as problem:
            raise serializers.ValidationError(str(problem), code="invalid_format") from problem
        return url


class WebhookTypesField(StrictListField):
    """Types of messages about sweeps, each once."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 DRF's own
        choice = StrictChoiceField(choices=SWEEP_TYPES)
        super().__init__(child=choice, min_length=1, max_length=len(SWEEP_TYPES), allow_null=True, **kwargs)


def choices_of(validated: dict[str, Any]) -> Choices:
    """Return what a validated request sets."""
    names = {"enabled": "is_enabled"}
    choices = {names.get(name, name): value for name, value in validated.items()}
    if "types" in choices:
        choices["types"] = sorted(set(choices["types"] or ()))
    return cast("Choices", choices)  # the serializers have these fields only


@extend_schema_serializer(
    examples=[
        OpenApiExample("All messages", value={"url": "https://partner.example/webhooks"}),
        OpenApiExample(
            "Only what is final",
            value={
                "url": "https://partner.example/webhooks",
                "description": "bookkeeping",
                "types": ["sweep.finalized"],
                "timing": "final",
                "payload": "full",
            },
        ),
    ]
)
class WebhookRequestSerializer(StrictSerializer):
    """A new endpoint."""

    url = TargetField(
        max_length=MAX_URL_LENGTH,
        help_text="https, on port 443 or 8443, of a public host; under `make dev` also http and this machine. "
        "Redirects are not followed.",
    )
    description = StrictCharField(required=False, allow_blank=True, max_length=200, help_text=_DESCRIPTION)
    types = WebhookTypesField(required=False, help_text=_TYPES)
    timing = StrictChoiceField(required=False, choices=WebhookEndpoint.Timing.choices, help_text=_TIMING)
    payload = StrictChoiceField(required=False, choices=WebhookEndpoint.Payload.choices, help_text=_PAYLOAD)


@extend_schema_serializer(examples=[OpenApiExample("Enable it again", value={"enabled": True})])
class WebhookChangeRequestSerializer(WebhookRequestSerializer):
    """What to change of an endpoint; the rest stays as it is."""

    url = TargetField(required=False, max_length=MAX_URL_LENGTH, help_text="As for a new endpoint.")
    enabled = StrictBooleanField(
        required=False,
        help_text="Messages that occur while it is disabled are not sent to it; you can have them replayed.",
    )


@extend_schema_serializer(
    examples=[
        OpenApiExample("All since a time", value={"since": "2026-01-31T12:00:00Z"}),
        OpenApiExample("From a message on", value={"fromMessageId": "019bb286-3ae0-7b00-811c-fdc880dd81d4"}),
    ]
)
class WebhookReplayRequestSerializer(StrictSerializer):
    """From where on to send messages again: exactly one of both."""

    has_one_field = True
    since = UtcDateTimeField(required=False, help_text="Messages that occurred at or after this time.")
    fromMessageId = UuidTextField(
        required=False, source="from_message_id", help_text="This message, and those that occurred after it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of both."""
        if len(attrs) != 1:
            raise serializers.ValidationError({"since": "Send either since or fromMessageId."}, code="required")
        return attrs


class WebhookHealthSerializer(serializers.Serializer[WebhookEndpoint]):
    """How an endpoint has been doing."""

    failures = serializers.IntegerField(help_text="Attempts in a row that failed.")
    failingSince = UtcDateTimeField(source="failing_since", allow_null=True)
    pausedUntil = UtcDateTimeField(
        source="paused_until",
        allow_null=True,
        help_text="After 10 failures in a row over a minute, deliveries wait, and one probes the endpoint every five "
        "minutes. After three days of failures alone it is disabled.",
    )


@extend_schema_serializer(examples=[example(EXAMPLES / "endpoint.json", "An endpoint")])
class WebhookSerializer(serializers.Serializer[WebhookEndpoint]):
    """An endpoint."""

    id = serializers.UUIDField()
    url = serializers.CharField()
    description = serializers.CharField(help_text=_DESCRIPTION)
    types = serializers.SerializerMethodField(help_text=_TYPES)
    timing = serializers.ChoiceField(choices=WebhookEndpoint.Timing.choices, help_text=_TIMING)
    payload = serializers.ChoiceField(choices=WebhookEndpoint.Payload.choices, help_text=_PAYLOAD)
    enabled = serializers.BooleanField(source="is_enabled")
    disabledReason = serializers.SerializerMethodField(help_text="Null unless we disabled it.")
    createdAt = UtcDateTimeField(source="created_at")
    formerSecretUntil = UtcDateTimeField(
        source="former_secret_until",
        allow_null=True,
        help_text="Until then each message has a signature by the former secret, too. Null unless it was rotated.",
    )
    health = WebhookHealthSerializer(source="*")

    @extend_schema_field(serializers.ListField(child=OpenEnumField(values=SWEEP_TYPES), allow_null=True))
    def get_types(self, endpoint: WebhookEndpoint) -> list[str] | None:
        return list(endpoint.types) or None

    def get_disabledReason(self, endpoint: WebhookEndpoint) -> str | None:  # noqa: N802 - named after its field
        return endpoint.disabled_reason or None


@extend_schema_serializer(many=False, examples=[example(EXAMPLES / "list.json", "One endpoint")])
class WebhookListSerializer(serializers.Serializer[Any]):
    """All endpoints of the partner, oldest first."""

    items = WebhookSerializer(many=True)


@extend_schema_serializer(examples=[example(EXAMPLES / "issued.json", "A new secret")])
class WebhookSecretSerializer(serializers.Serializer[Any]):
    """An endpoint with a new secret."""

    endpoint = WebhookSerializer()
    secret = serializers.CharField(
        help_text="Signs the messages, as Standard Webhooks says. It is shown only once: store it."
    )


class WebhookAttemptSerializer(serializers.Serializer[WebhookAttempt]):
    """One request to the endpoint."""

    number = serializers.IntegerField()
    at = UtcDateTimeField(help_text="When it ended.")
    durationMs = serializers.IntegerField(source="duration_ms")
    httpStatus = serializers.IntegerField(source="http_status", allow_null=True, help_text="Null without a response.")
    error = serializers.SerializerMethodField(help_text="Why it failed; null if it succeeded, with a status 2xx.")

    @extend_schema_field(OpenEnumField(values=AttemptError.values, allow_null=True))
    def get_error(self, attempt: WebhookAttempt) -> str | None:
        return attempt.error or None


@extend_schema_serializer(
    examples=[example(EXAMPLES / "delivery.json", "Delivered at the second attempt", status_codes=["202"])]
)
class WebhookDeliverySerializer(serializers.Serializer[WebhookDelivery]):
    """A message on its way to an endpoint."""

    deliveryId = serializers.UUIDField(source="id")
    messageId = serializers.UUIDField(source="message.id", help_text="As in the header webhook-id.")
    type = OpenEnumField(source="message.type", values=MESSAGE_TYPES)
    sweepId = serializers.UUIDField(source="message.sweep_ref", allow_null=True, help_text="Null if about no sweep.")
    sequence = serializers.IntegerField(source="message.sequence", allow_null=True, help_text="As in the message.")
    status = serializers.ChoiceField(choices=WebhookDelivery.Status.choices)
    attempts = WebhookAttemptSerializer(source="made", many=True, help_text="Oldest first.")
    nextAttemptAt = UtcDateTimeField(source="next_attempt_at", allow_null=True, help_text="Null unless pending.")
    createdAt = UtcDateTimeField(source="created_at")
    completedAt = UtcDateTimeField(source="completed_at", allow_null=True, help_text="Null while pending.")


@extend_schema_serializer(examples=[example(EXAMPLES / "delivery_page.json", "One delivery")])
class WebhookDeliveryPageSerializer(serializers.Serializer[Any]):
    """A page of deliveries."""

    items = WebhookDeliverySerializer(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")


class DeliveryQuery(PageQuery):
    """Which deliveries to return."""

    status = StrictChoiceField(required=False, choices=WebhookDelivery.Status.choices)


@extend_schema_serializer(
    examples=[OpenApiExample("All of it", value={"scheduled": 12, "nextMessageId": None}, status_codes=["202"])]
)
class WebhookReplaySerializer(serializers.Serializer[Any]):
    """What will be sent again."""

    scheduled = serializers.IntegerField(help_text="Deliveries; those that were still pending do not count.")
    nextMessageId = serializers.UUIDField(
        source="next_message_id",
        allow_null=True,
        help_text="If there were more than 10,000 messages: the one from which to replay the rest.",
    )
