"""Turns every failure into the error envelope, in this one place, whether DRF, Django or our own code raised it."""

from http import HTTPStatus

import structlog
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from rest_framework import exceptions as drf

from sweepapi import errors
from sweepapi.api.error_table import ERROR_TABLE
from sweepapi.api.middleware import request_id_of
from sweepapi.api.serializers import field_errors

logger = structlog.get_logger(__name__)

# Pages for people: these keep Django's own error pages.
_HTML_PREFIXES = ("/admin/", "/docs/")


def envelope_exception(exc: Exception, context: dict[str, HttpRequest]) -> JsonResponse:
    """Answer for an exception in an API view. One that is not foreseen is logged whole and shown as nothing."""
    error = _as_domain_error(exc)
    if isinstance(error, errors.InternalError):
        logger.error("unexpected_error", exc_info=exc)
    return error_response(context["request"], error)


def error_response(request: HttpRequest, error: errors.SweepApiError) -> JsonResponse:
    """Return the error in the envelope, with the header fields that belong to its status."""
    row = ERROR_TABLE[type(error)]
    body = {
        "code": row.code,
        "message": error.message,
        "details": [{"field": d.field, "code": d.code, "message": d.message} for d in error.details],
        "retryable": row.retryable,
        "requestId": request_id_of(request),
    }
    response = JsonResponse({"ok": False, "error": body}, status=row.status)
    if error.retry_after_seconds is not None:
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    if row.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "x-api-key"
    return response


def _as_domain_error(exc: Exception) -> errors.SweepApiError:  # noqa: PLR0911 one line a kind
    match exc:
        case errors.SweepApiError():
            return exc
        case drf.ValidationError():
            return errors.InvalidRequest(details=list(field_errors(exc.detail)))
        case drf.ParseError():
            return errors.InvalidRequest(str(exc.detail))
        case drf.NotAuthenticated():
            return errors.MissingApiKey()
        case drf.NotFound() | Http404():
            return errors.NotFound()
        case drf.MethodNotAllowed():
            return errors.MethodNotAllowed()
        case drf.UnsupportedMediaType():
            return errors.UnsupportedMediaType()
        case _:
            return errors.InternalError()


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for requests that Django itself refuses, such as those for a foreign host."""
    if request.path.startswith(_HTML_PREFIXES):
        return defaults.bad_request(request, exception)
    return error_response(request, errors.InvalidRequest())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer for an address that leads nowhere."""
    if request.path.startswith(_HTML_PREFIXES):
        return defaults.page_not_found(request, exception)
    return error_response(request, errors.NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for an exception outside the API views; Django has logged it."""
    if request.path.startswith(_HTML_PREFIXES):
        return defaults.server_error(request)
    return error_response(request, errors.InternalError())
