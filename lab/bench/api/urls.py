"""The service's endpoints and the bare view."""

from django.urls import include, path

from lab.bench.api.bare import BareViewSet

urlpatterns = [
    path("v2/bare/<str:sweep_id>", BareViewSet.as_view({"get": "retrieve"})),
    path("", include("config.urls")),
]
handler400 = "sweepapi.api.errors.handlers.bad_request"
handler404 = "sweepapi.api.errors.handlers.not_found"
handler500 = "sweepapi.api.errors.handlers.server_error"
