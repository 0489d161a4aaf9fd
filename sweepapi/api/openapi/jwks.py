"""Publishes the keys by which receipts and statements can be checked, as RFC 7517 spells them; needs no API key."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.csrf import csrf_exempt

from sweepapi.api.errors.handlers import error_response
from sweepapi.crypto.proof_keys import published_keys
from sweepapi.errors import MethodNotAllowed


@csrf_exempt  # a POST gets our 405, not Django's page about CSRF tokens
def jwks(request: HttpRequest) -> HttpResponse:
    """Return all keys, also those that sign no more, outside the envelope, as libraries read them."""
    if request.method not in {"GET", "HEAD"}:
        return error_response(request, MethodNotAllowed())
    response = JsonResponse({"keys": [key.jwk for key in published_keys()]})
    patch_cache_control(response, public=True, max_age=300)
    return response
