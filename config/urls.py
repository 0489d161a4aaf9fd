"""Maps URL paths of the API to views; config.console.urls has the pages of operators."""

from django.urls import include, path

from ledger.proofs.views import StatementViewSet
from ledger.views import LedgerBalanceViewSet, LedgerEntryViewSet
from partners.views.partner import PartnerViewSet
from sweepapi.api.openapi.docs import OpenApiView, errors, example
from sweepapi.api.openapi.jwks import jwks
from sweepapi.api.openapi.site import site

urlpatterns = [
    path("", include("sweeps.urls")),
    path("", include("sweeps.views.sandbox_urls")),
    path("v2/partner", PartnerViewSet.as_view({"get": "retrieve"})),
    path("", include("partners.views.webhook_urls")),
    path("v2/ledger/entries", LedgerEntryViewSet.as_view({"get": "list"})),
    path("v2/ledger/balances", LedgerBalanceViewSet.as_view({"get": "retrieve"})),
    path("v2/statements/<str:month>", StatementViewSet.as_view({"get": "retrieve"})),
    path("v2/statements/<str:month>/proof", StatementViewSet.as_view({"get": "proof"})),
    path("v2/openapi.json", OpenApiView.as_view(), name="openapi"),
    path(".well-known/jwks.json", jwks, name="jwks"),
    path("docs/examples/<str:name>.json", example, name="example"),
    path("docs/errors", errors, name="errors"),
    path("docs/", site, name="docs"),
    path("docs/<path:path>", site),
]

handler400 = "sweepapi.api.errors.handlers.bad_request"
handler404 = "sweepapi.api.errors.handlers.not_found"
handler500 = "sweepapi.api.errors.handlers.server_error"
