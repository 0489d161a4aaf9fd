"""Answers every failure with the error envelope, whether it was raised in an API view or anywhere else in Django."""

import sys
from dataclasses import asdict
from http import HTTPStatus

import structlog
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.log import log_response
from django.views import defaults

from sweepapi import errors
from sweepapi.api.errors.error_mapping import domain_error
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.requests.middleware import request_id_of
from sweepapi.api.requests.negotiation import PROBLEM_JSON, accepts_problems
from sweepapi.api.requests.request_log import note_error_code

logger = structlog.get_logger(__name__)

# Pages for people: these keep Django's own error pages.
_HTML_PREFIXES = ("/admin/", "/docs/")


def envelope_exception(exc: Exception, context: dict[str, HttpRequest]) -> JsonResponse:
    """Answer for an exception in an API view. An unexpected one is logged in full and not shown."""
    response = _failure(context["request"], exc)
    if response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("unexpected_error", exc_info=exc)
    return response


def error_response(request: HttpRequest, error: errors.SweepApiError) -> JsonResponse:
    """Return the error in the envelope, or as the caller prefers it, with the header fields of its status."""
    row = ERROR_TABLE[type(error)]
    note_error_code(request, row.code)
    doc_url = _doc_url(request, row.code)
    envelope = {
        "ok": False,
        "error": {
            "code": row.code,
            "message": error.message,
            "details": [asdict(detail) for detail in error.details],
            "retryable": row.retryable,
            "requestId": request_id_of(request),
            "docUrl": doc_url,
        },
    }
    if accepts_problems(request.headers.get("Accept", "")):
        problem = {
            "type": doc_url,
            "title": error.default_message(),
            "status": row.status,
            "detail": error.message,
            "instance": f"urn:request:{request_id_of(request)}",
        }
        response = JsonResponse(problem | envelope, status=row.status, content_type=PROBLEM_JSON)
    else:
        response = JsonResponse(envelope, status=row.status)
    patch_vary_headers(response, ["Accept"])
    if error.retry_after_seconds is not None:
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    if row.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "x-api-key"
    return response


def _doc_url(request: HttpRequest, code: str) -> str:
    """Return where the code is explained; without our host if the request names another one."""
    path = f"{reverse('errors')}#{code}"
    try:
        return request.build_absolute_uri(path)
    except DisallowedHost:
        return path


def _failure(request: HttpRequest, exc: Exception) -> JsonResponse:
    error = domain_error(exc)
    response = error_response(request, error)
    if isinstance(error, errors.ServiceUnavailable):
        # Its type says enough, and a driver's message or trace may name hosts and users. Django logs a response once.
        message = "service_unavailable: %s at %s"
        log_response(message, type(exc).__name__, request.path, response=response, request=request, level="warning")
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for a request that Django itself refuses, such as one for a foreign host."""
    if request.path.startswith(_HTML_PREFIXES):
        return defaults.bad_request(request, exception)
    return _failure(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for a path that is not an endpoint."""
    if request.path.startswith(_HTML_PREFIXES):
        return defaults.page_not_found(request, exception)
    return _failure(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for any other exception outside the API views; Django calls this while it handles the exception."""
    exception = sys.exception()
    if request.path.startswith(_HTML_PREFIXES) or not isinstance(exception, Exception):
        return defaults.server_error(request)
    return _failure(request, exception)
