"""Serves the OpenAPI document with its long examples, and the page that explains the errors, which needs no build."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.field_codes import FIELD_CODES
from sweepapi.api.openapi.document import document
from sweepapi.api.openapi.read_only import read_only
from sweepapi.api.openapi.site import built_site
from sweepapi.api.requests.negotiation import accepts_gzip

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class OpenApiView(APIView):
    """The document itself, as plain JSON outside the envelope, so that generators can read it."""

    authentication_classes: list[type[BaseAuthentication]] = []
    permission_classes: list[type[BasePermission]] = []
    renderer_classes = [JSONRenderer]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the document, compressed if the caller takes that, or 304 if the caller has it."""
        is_zipped = accepts_gzip(request.headers.get("Accept-Encoding", ""))
        shown = document().zipped if is_zipped else document().plain
        # A proxy that compresses weakens an ETag.
        known = {etag.removeprefix("W/") for etag in parse_etags(request.headers.get("If-None-Match", ""))}
        response = HttpResponse(shown.body, content_type="application/json")
        if known & {shown.etag, "*"}:
            response = HttpResponseNotModified()
        elif is_zipped:
            response.headers["Content-Encoding"] = "gzip"
        response.headers["ETag"] = shown.etag
        patch_cache_control(response, public=True, max_age=300)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response


@read_only
def example(_request: HttpRequest, name: str) -> HttpResponse:
    """Show an example to which the document refers."""
    body = document().examples.get(name)
    if body is None:
        raise Http404
    response = HttpResponse(body, content_type="application/json")
    patch_cache_control(response, public=True, max_age=300)
    return response


@read_only
def errors(request: HttpRequest) -> HttpResponse:
    """Explain each code, at the anchor to which the ``docUrl`` of a failure points."""
    rows = [(error.default_message(), row) for error, row in ERROR_TABLE.items()]
    fields = [(code, meaning.split("`")) for code, meaning in FIELD_CODES.items()]  # every second part is code
    shown = {"rows": rows, "fields": fields, "have_pages": built_site() is not None}
    response = render(request, "sweepapi/errors.html", shown)
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    patch_cache_control(response, max_age=300)
    return response
