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

from partners.webhooks.models import MessageType
from sweepapi.api.input.fields import ConstantField, UtcDateTimeField
from sweeps.models import SweepStatus
from sweeps.rails.registry import V1, V2

_STATES = Path(__file__).parents[2] / "rails" / "evm" / "serializers" / "examples"
_TIME = "2026-03-02T09:31:12.204518Z"
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


def _webhook(kind: MessageType, data: type[serializers.Serializer[Any]], meaning: str, **shown: Any) -> OpenApiWebhook:  # noqa: ANN401 - JSON
    """Return the description of one type of messages; the examples of its data are by their names."""

    class MessageSerializer(serializers.Serializer[Any]):
        type = ConstantField(value=kind.value)
        timestamp = UtcDateTimeField(help_text="When it occurred.")

    name = "".join(part.capitalize() for part in kind.value.split(".")) + "Message"
    message = type(name, (MessageSerializer,), {"data": data(), "__doc__": meaning})
    examples = [
        OpenApiExample(title, value={"type": kind.value, "timestamp": _TIME, "data": value}, response_only=True)
        for title, value in shown.items()
    ]
    described = extend_schema_serializer(component_name=name, examples=examples)(message)
    return OpenApiWebhook(
        kind.value,
        extend_schema(
            operation_id=f"receive{name}",
            summary=meaning,
            tags=["Webhooks"],
            request=described,
            responses={"2XX": OpenApiResponse(description="Received. With any other status it is sent again.")},
        ),
    )


def _about_sweep(
    kind: MessageType, meaning: str, *, status: str, number: int, state: str | None = None
) -> OpenApiWebhook:
    """Return the description of messages about sweeps; ``state`` names the file of a status object for the example."""
    completed = json.loads((_STATES / "completed.json").read_text(encoding="utf-8"))
    sweep = completed if state is None else json.loads((_STATES / f"{state}.json").read_text(encoding="utf-8"))
    transaction: Mapping[str, Any] = completed["transaction"]
    thin = {
        "sweepId": sweep["sweepId"],
        "clientReference": sweep["clientReference"],
        "chain": sweep["chain"],
        "status": status,
        "final": kind in (MessageType.FINALIZED, MessageType.EXPIRED),
        "sequence": number,
        "txHash": None if status in ("expired", "void") else transaction["txHash"],
    }
    full = {} if state is None else {"full": {**thin, "sweep": sweep}}
    return _webhook(kind, SweepDataSerializer, meaning, thin=thin, **full)


COMPLETED = _about_sweep(
    MessageType.COMPLETED,
    "The sweep was executed; a reorganisation may still reverse it.",
    status="completed",
    number=1,
    state="completed",
)
FINALIZED = _about_sweep(
    MessageType.FINALIZED,
    "The sweep is completed, and that can't be reversed any more.",
    status="completed",
    number=2,
    state="completed",
)
REVERSED = _about_sweep(
    MessageType.REVERSED,
    "The sweep had been completed, and its block left the chain.",
    status="pending",
    number=2,
    state="pending",
)
FAILED = _about_sweep(
    MessageType.FAILED,
    "The transaction was reverted; unless `final`, the user can still execute the sweep.",
    status="failed",
    number=1,
)
EXPIRED = _about_sweep(
    MessageType.EXPIRED, "The sweep was not executed in time, and can't be any more.", status="expired", number=1
)
VOIDED = _about_sweep(
    MessageType.VOIDED,
    "The sweep was withdrawn; unless `final`, a user who signed it can still execute it.",
    status="void",
    number=1,
    state="cancelled",
)
PING = _webhook(MessageType.PING, PingDataSerializer, "You asked for this message.", ping={"endpointId": _ENDPOINT_ID})
DISABLED = _webhook(
    MessageType.DISABLED,
    DisabledDataSerializer,
    "Another endpoint of yours was disabled, because every attempt of three days failed.",
    disabled={
        "endpointId": _ENDPOINT_ID,
        "url": "https://partner.example/hooks",
        "reason": "Every attempt since 2026-02-27 09:31 UTC failed, the last with HTTP 503.",
    },
)
