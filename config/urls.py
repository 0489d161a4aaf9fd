"""Which address leads to which view."""

from django.contrib import admin
from django.urls import include, path

from ledger.views import LedgerEntriesView
from partners.views import PartnerView
from sweepapi.api.docs import OpenApiView, reference

urlpatterns = [
    path("", include("sweeps.urls")),
    path("v2/partner", PartnerView.as_view()),
    path("v2/ledger/entries", LedgerEntriesView.as_view()),
    path("v2/openapi.json", OpenApiView.as_view(), name="openapi"),
    path("docs/", reference),
    path("admin/", admin.site.urls),
]

handler400 = "sweepapi.api.handlers.bad_request"
handler404 = "sweepapi.api.handlers.not_found"
handler500 = "sweepapi.api.handlers.server_error"
