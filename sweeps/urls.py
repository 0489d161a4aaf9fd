"""The URL paths of the sweep endpoints."""

from django.urls import path

from sweeps.views.receipts import ReceiptV1ViewSet, ReceiptViewSet
from sweeps.views.serializers.calls_status import ConfirmParser
from sweeps.views.service import OutputTokenViewSet, ServiceStatusViewSet
from sweeps.views.v1 import SweepV1ViewSet
from sweeps.views.v2 import SweepViewSet

urlpatterns = [
    path("v1/status", ServiceStatusViewSet.as_view({"get": "v1"})),
    path("v1/sweep/discover", SweepV1ViewSet.as_view({"post": "discover"})),
    path("v1/sweep/build", SweepV1ViewSet.as_view({"post": "build"})),
    path("v1/sweep/status/<str:sweep_id>", SweepV1ViewSet.as_view({"get": "retrieve"})),
    path("v1/sweep/status/<str:sweep_id>/receipt", ReceiptV1ViewSet.as_view({"get": "retrieve"})),
    path("v1/sweep/history", SweepV1ViewSet.as_view({"get": "list"})),
    path("v1/sweep/output-tokens", OutputTokenViewSet.as_view({"get": "list"})),
    path("v2/status", ServiceStatusViewSet.as_view({"get": "v2"})),
    path("v2/sweep/discover", SweepViewSet.as_view({"post": "discover"})),
    path("v2/sweep/quote", SweepViewSet.as_view({"post": "quote"})),
    path("v2/sweep/build", SweepViewSet.as_view({"post": "build"})),
    path("v2/sweep/build/<str:sweep_id>/refresh", SweepViewSet.as_view({"post": "refresh"})),
    path("v2/sweep/status/<str:sweep_id>", SweepViewSet.as_view({"get": "retrieve"})),
    path("v2/sweep/status/<str:sweep_id>/cancel", SweepViewSet.as_view({"post": "cancel"})),
    path("v2/sweep/status/<str:sweep_id>/finalize", SweepViewSet.as_view({"post": "finalize"})),
    path(
        "v2/sweep/status/<str:sweep_id>/confirm",
        SweepViewSet.as_view({"post": "confirm"}, parser_classes=[ConfirmParser]),
    ),
    path("v2/sweep/status/<str:sweep_id>/receipt", ReceiptViewSet.as_view({"get": "retrieve"})),
    path("v2/sweep/history", SweepViewSet.as_view({"get": "list"})),
]
