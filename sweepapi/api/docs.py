"""Serves the OpenAPI document and a page to read it and try it, built only from files of this host."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView

from sweepapi.api.handlers import error_response
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
    if request.method not in {"GET", "HEAD"}:
        return error_response(request, MethodNotAllowed())
    response = render(request, "sweepapi/reference.html")
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    patch_cache_control(response, max_age=300)
    return response
