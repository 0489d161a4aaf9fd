"""Serves the OpenAPI document, a page to read it and try it, and one about errors, from files of this host only."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.errors.handlers import error_response
from sweepapi.api.input.field_codes import FIELD_CODES
from sweepapi.errors import MethodNotAllowed

# Swagger UI sets style attributes and draws its icons from data URLs; scripts and requests stay with this host.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class OpenApiView(SpectacularAPIView):
    """The document itself, as plain JSON outside the envelope, so that generators can read it."""

    renderer_classes = [OpenApiJsonRenderer2]


@csrf_exempt  # a POST gets our 405, not Django's page about CSRF tokens
def reference(request: HttpRequest) -> HttpResponse:
    """Show the reference page."""
    return _page(request, "sweepapi/reference.html", {})


@csrf_exempt  # as above
def errors(request: HttpRequest) -> HttpResponse:
    """Explain each code, at the anchor to which the ``docUrl`` of a failure points."""
    rows = [(error.default_message(), row) for error, row in ERROR_TABLE.items()]
    fields = [(code, meaning.split("`")) for code, meaning in FIELD_CODES.items()]  # every second part is code
    return _page(request, "sweepapi/errors.html", {"rows": rows, "fields": fields})


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    if request.method not in {"GET", "HEAD"}:
        return error_response(request, MethodNotAllowed())
    response = render(request, template, context)
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    patch_cache_control(response, max_age=300)
    return response
