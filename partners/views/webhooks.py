"""The endpoints with which partners manage their webhooks; they require the scope ``webhooks``."""

import re
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import requester_of
from partners.limits import BUILD
from partners.webhooks import endpoints
from partners.webhooks.endpoints import Owner
from partners.webhooks.serializers import (
    DeliveryQuery,
    WebhookChangeRequestSerializer,
    WebhookDeliveryPageSerializer,
    WebhookDeliverySerializer,
    WebhookListSerializer,
    WebhookReplayRequestSerializer,
    WebhookReplaySerializer,
    WebhookRequestSerializer,
    WebhookSecretSerializer,
    WebhookSerializer,
    choices_of,
)
from sweepapi.api.input.pagination import Scope, newest_first
from sweepapi.api.input.serializers import EmptyRequestSerializer
from sweepapi.api.openapi.schema import failures
from sweepapi.errors import WebhookNotFound

TAG = "Webhooks"
ACTIONS = (
    *("list", "create", "retrieve", "partial_update", "destroy"),
    *("ping", "rotate_secret", "deliveries", "replay"),
)
WEBHOOK_ID = OpenApiParameter("webhook_id", UUID, OpenApiParameter.PATH, description="id of the endpoint.")
_ID_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def id_of(text: str) -> UUID:
    """Return the id of a path; an endpoint whose id is not a canonical UUID does not exist."""
    if not _ID_FORM.fullmatch(text):
        raise WebhookNotFound
    return UUID(text)


def owner_of(request: Request) -> Owner:
    """Return whose endpoints the key manages."""
    requester = requester_of(request)
    return Owner(requester.partner_id, requester.mode)


class WebhookViewSet(ViewSet):
    scopes = dict.fromkeys(ACTIONS, "webhooks")
    policies = dict.fromkeys(("create", "ping", "replay"), BUILD)
    bodies = {
        "create": WebhookRequestSerializer,
        "partial_update": WebhookChangeRequestSerializer,
        "ping": EmptyRequestSerializer,
        "rotate_secret": EmptyRequestSerializer,
        "replay": WebhookReplayRequestSerializer,
    }

    @extend_schema(
        operation_id="listWebhooks",
        summary="List your webhook endpoints",
        tags=[TAG],
        responses={200: WebhookListSerializer, **failures("listWebhooks")},
    )
    def list(self, request: Request) -> Response:
        """Return all endpoints, at most ten."""
        return Response(WebhookListSerializer({"items": owner_of(request).endpoints()}).data)

    @extend_schema(
        operation_id="createWebhook",
        summary="Add a webhook endpoint",
        tags=[TAG],
        request=WebhookRequestSerializer,
        responses={201: WebhookSecretSerializer, **failures("createWebhook")},
    )
    def create(self, request: Request) -> Response:
        """Return the endpoint with its secret, which is shown only once.

        Messages follow Standard Webhooks: the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, and a
        body of `type`, `timestamp` and `data`. Verify the signature over the body as you received it. A message may
        arrive twice, with the same `webhook-id`, and out of order: `sequence` counts the messages about a sweep from 1.
        Answer with a status 2xx within ten seconds; otherwise it is sent again, for three days.
        """
        body = WebhookRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        issued = endpoints.create(owner_of(request), choices_of(body.validated_data))
        return Response(WebhookSecretSerializer(issued).data, status=201)

    @extend_schema(
        operation_id="getWebhook",
        summary="Get a webhook endpoint",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        responses={200: WebhookSerializer, **failures("getWebhook")},
    )
    def retrieve(self, request: Request, webhook_id: str) -> Response:
        """Return the endpoint and how it has been doing."""
        return Response(WebhookSerializer(owner_of(request).get(id_of(webhook_id))).data)

    @extend_schema(
        operation_id="updateWebhook",
        summary="Change a webhook endpoint",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        request=WebhookChangeRequestSerializer,
        responses={200: WebhookSerializer, **failures("updateWebhook")},
    )
    def partial_update(self, request: Request, webhook_id: str) -> Response:
        """Change what the body has.

        What waits for a disabled endpoint is sent once it is enabled. One that is paused resumes by itself: it is
        tried every five minutes.
        """
        body = WebhookChangeRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        changed = endpoints.change(owner_of(request), id_of(webhook_id), choices_of(body.validated_data))
        return Response(WebhookSerializer(changed).data)

    @extend_schema(
        operation_id="deleteWebhook",
        summary="Delete a webhook endpoint",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        responses={200: WebhookSerializer, **failures("deleteWebhook")},
    )
    def destroy(self, request: Request, webhook_id: str) -> Response:
        """Send nothing more to the endpoint, forget its secrets, and return it for the last time."""
        return Response(WebhookSerializer(endpoints.delete(owner_of(request), id_of(webhook_id))).data)

    @extend_schema(
        operation_id="pingWebhook",
        summary="Send a test message to a webhook endpoint",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        request=EmptyRequestSerializer,
        responses={202: WebhookDeliverySerializer, **failures("pingWebhook")},
    )
    def ping(self, request: Request, webhook_id: str) -> Response:
        """Schedule a message of the type `webhook.ping`, and return its delivery; the list of deliveries shows more."""
        EmptyRequestSerializer(data=request.data).is_valid(raise_exception=True)
        delivery = endpoints.ping(owner_of(request), id_of(webhook_id))
        return Response(WebhookDeliverySerializer(delivery).data, status=202)

    @extend_schema(
        operation_id="rotateWebhookSecret",
        summary="Replace the secret of a webhook endpoint",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        request=EmptyRequestSerializer,
        responses={200: WebhookSecretSerializer, **failures("rotateWebhookSecret")},
    )
    def rotate_secret(self, request: Request, webhook_id: str) -> Response:
        """Return a new secret. For 24 hours messages are signed with both, so that you can change over in between."""
        EmptyRequestSerializer(data=request.data).is_valid(raise_exception=True)
        issued = endpoints.rotate_secret(owner_of(request), id_of(webhook_id))
        return Response(WebhookSecretSerializer(issued).data)

    @extend_schema(
        operation_id="listWebhookDeliveries",
        summary="List the deliveries to a webhook endpoint, newest first",
        parameters=[WEBHOOK_ID, DeliveryQuery],
        tags=[TAG],
        responses={200: WebhookDeliveryPageSerializer, **failures("listWebhookDeliveries")},
    )
    def deliveries(self, request: Request, webhook_id: str) -> Response:
        """Return one page of deliveries with their attempts; messages are kept for 30 days."""
        owner = owner_of(request)
        endpoint = owner.get(id_of(webhook_id))
        filters = DeliveryQuery.read(request.query_params, mode=owner.mode)
        cursor, limit = filters.pop("cursor", None), filters.pop("limit")
        found = endpoints.deliveries_of(endpoint).filter(**filters)
        scope = Scope("deliveries", owner.partner_id, owner.mode, {**filters, "endpoint": endpoint.id})
        items, next_cursor = newest_first(found, time_field="created_at", scope=scope, cursor=cursor, limit=limit)
        return Response(WebhookDeliveryPageSerializer({"items": items, "nextCursor": next_cursor}).data)

    @extend_schema(
        operation_id="replayWebhook",
        summary="Send messages to a webhook endpoint again",
        parameters=[WEBHOOK_ID],
        tags=[TAG],
        request=WebhookReplayRequestSerializer,
        responses={202: WebhookReplaySerializer, **failures("replayWebhook")},
    )
    def replay(self, request: Request, webhook_id: str) -> Response:
        """Schedule the messages that the endpoint chose, also those from before it existed, with the same ids."""
        body = WebhookReplayRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        replayed = endpoints.replay(owner_of(request), id_of(webhook_id), **body.validated_data)
        return Response(WebhookReplaySerializer(replayed).data, status=202)
