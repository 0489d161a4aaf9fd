"""The URL paths of the sandbox."""

from django.urls import path

from sweeps.views.sandbox import SandboxRpcViewSet, SandboxViewSet

urlpatterns = [
    path("v2/sandbox", SandboxViewSet.as_view({"get": "retrieve"})),
    path("v2/sandbox/advance", SandboxViewSet.as_view({"post": "advance"})),
    path("v2/sandbox/fund", SandboxViewSet.as_view({"post": "fund"})),
    path("v2/sandbox/rpc/<str:chain>", SandboxRpcViewSet.as_view({"post": "call"})),
]
