"""Publishes the keys by which receipts and statements can be checked, as RFC 7517 spells them; needs no API key."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control

from sweepapi.api.openapi.read_only import read_only
from sweepapi.crypto.proof_keys import published_keys


@read_only
def jwks(_request: HttpRequest) -> HttpResponse:
    """Return all keys, also those that sign no more, outside the envelope, as libraries read them."""
    response = JsonResponse({"keys": [key.jwk for key in published_keys()]})
    patch_cache_control(response, public=True, max_age=300)
    return response
