"""The URL paths of webhooks."""

from django.urls import path

from partners.views.webhooks import WebhookViewSet

_ONE = "v2/webhooks/<str:webhook_id>"

urlpatterns = [
    path("v2/webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"})),
    path(_ONE, WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"})),
    path(f"{_ONE}/ping", WebhookViewSet.as_view({"post": "ping"})),
    path(f"{_ONE}/rotate-secret", WebhookViewSet.as_view({"post": "rotate_secret"})),
    path(f"{_ONE}/deliveries", WebhookViewSet.as_view({"get": "deliveries"})),
    path(f"{_ONE}/replay", WebhookViewSet.as_view({"post": "replay"})),
]
