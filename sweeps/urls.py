"""The URL paths of the sweep endpoints."""

from django.urls import path

from sweeps.views import ServiceStatusViewSet, SweepViewSet

urlpatterns = [
    path("v2/status", ServiceStatusViewSet.as_view({"get": "retrieve"})),
    path("v2/sweep/build", SweepViewSet.as_view({"post": "build"})),
    path("v2/sweep/status/<str:sweep_id>", SweepViewSet.as_view({"get": "retrieve"})),
    path("v2/sweep/status/<str:sweep_id>/confirm", SweepViewSet.as_view({"post": "confirm"})),
]
