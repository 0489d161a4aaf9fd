"""The messages to partners' webhooks as the OpenAPI document describes them: the bodies of each type, with examples.

They are written as plain JSON (``partners.webhooks.payloads``); a test holds what is sent equal to what is said here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiResponse,
    OpenApiWebhook,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import serializers

from partners.webhooks.public_events import DISABLED, PING, PUBLIC_EVENTS, PublicEvent
from sweepapi.api.input.fields import ConstantField, UtcDateTimeField
from sweeps.models import SweepStatus
from sweeps.rails.registry import V1, V2

_STATES = Path(__file__).parents[2] / "rails" / "evm" / "serializers" / "examples"
_TIME = "2026-03-02T09:31:12.204518Z"
_FIRST = ("sweep.completed", "sweep.finalized", "sweep.reversed")  # a completion, and what becomes of it
_ENDPOINT_ID = "019cadf0-6d10-7c3a-9a4e-3f2b1a0c9d8e"


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="AnySweepState", serializers=[V2.state, V1.state], resource_type_field_name=None
    )
)
class AnyStateField(serializers.DictField):
    """The status object of /v2, or of /v1 for a sweep that only /v1 shows."""


@extend_schema_serializer(component_name="SweepMessageData")
class SweepDataSerializer(serializers.Serializer[Any]):
    """What a message says about a sweep."""

    sweepId = serializers.UUIDField()
    clientReference = serializers.CharField(allow_blank=True, help_text="As in your build; blank without one.")
    chain = serializers.CharField()
    status = serializers.ChoiceField(choices=SweepStatus.choices, help_text="When this occurred, not now.")
    final = serializers.BooleanField(help_text="Whether this can't be reversed.")
    sequence = serializers.IntegerField(
        min_value=1, help_text="Counts the messages about this sweep from 1, whether you chose their types or not."
    )
    txHash = serializers.CharField(allow_null=True, help_text="The transaction that decided; null without one.")
    sweep = AnyStateField(
        required=False, help_text="The status object as of the delivery; only for endpoints with the payload `full`."
    )


@extend_schema_serializer(component_name="PingMessageData")
class PingDataSerializer(serializers.Serializer[Any]):
    """What a ping says."""

    endpointId = serializers.UUIDField(help_text="The endpoint that was pinged.")


@extend_schema_serializer(component_name="DisabledMessageData")
class DisabledDataSerializer(serializers.Serializer[Any]):
    """Which endpoint was disabled, and why."""

    endpointId = serializers.UUIDField()
    url = serializers.CharField()
    reason = serializers.CharField(help_text="For people; may change.")


def _webhook(kind: str, data: type[serializers.Serializer[Any]], meaning: str, **shown: Any) -> OpenApiWebhook:  # noqa: ANN401 - JSON
    """Return the description of one type of messages; the examples of its data are by their names."""

    class MessageSerializer(serializers.Serializer[Any]):
        type = ConstantField(value=kind)
        timestamp = UtcDateTimeField(help_text="When it occurred.")

    name = "".join(part.capitalize() for part in kind.split(".")) + "Message"
    message = type(name, (MessageSerializer,), {"data": data(), "__doc__": meaning})
    examples = [
        OpenApiExample(title, value={"type": kind, "timestamp": _TIME, "data": value}, response_only=True)
        for title, value in shown.items()
    ]
    described = extend_schema_serializer(component_name=name, examples=examples)(message)
    return OpenApiWebhook(
        kind,
        extend_schema(
            operation_id=f"receive{name}",
            summary=meaning,
            tags=["Webhooks"],
            request=described,
            responses={"2XX": OpenApiResponse(description="Received. With any other status it is sent again.")},
        ),
    )


def _about_sweep(event: PublicEvent) -> OpenApiWebhook:
    """Return the description of messages about sweeps."""
    completed = json.loads((_STATES / "completed.json").read_text(encoding="utf-8"))
    sweep = json.loads((_STATES / f"{event.state}.json").read_text(encoding="utf-8")) if event.state else completed
    transaction: Mapping[str, Any] = completed["transaction"]
    thin = {
        "sweepId": sweep["sweepId"],
        "clientReference": sweep["clientReference"],
        "chain": sweep["chain"],
        "status": event.status,
        "final": event.final,
        "sequence": event.number,
        "txHash": None if event.status in ("expired", "void") else transaction["txHash"],
    }
    full = {"full": {**thin, "sweep": sweep}} if event.state else {}
    return _webhook(event.type, SweepDataSerializer, event.sentence, thin=thin, **full)


def _place(event: PublicEvent) -> int:
    return _FIRST.index(event.type) if event.type in _FIRST else len(_FIRST)


WEBHOOKS = [
    *(_about_sweep(event) for event in sorted(PUBLIC_EVENTS, key=_place)),
    _webhook(PING, PingDataSerializer, "You asked for this message.", ping={"endpointId": _ENDPOINT_ID}),
    _webhook(
        DISABLED,
        DisabledDataSerializer,
        "Another endpoint of yours was disabled, because every attempt of three days failed.",
        disabled={
            "endpointId": _ENDPOINT_ID,
            "url": "https://partner.example/hooks",
            "reason": "Every attempt since 2026-02-27 09:31 UTC failed, the last with HTTP 503.",
        },
    ),
]
