"""Maps every exception of Django, its database layer and DRF to one of our errors, in this one place."""

from itertools import islice

from django import db
from django.core import exceptions as django
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions as drf

from sweepapi import errors
from sweepapi.api.input.serializers import field_errors

DATABASE_RETRY_AFTER_SECONDS = 2

# An exception is mapped by the first row that it is an instance of.
_EQUIVALENTS: tuple[tuple[type[Exception], type[errors.SweepApiError]], ...] = (
    (drf.NotAuthenticated, errors.MissingApiKey),
    (drf.AuthenticationFailed, errors.InvalidApiKey),
    (drf.NotFound, errors.NotFound),
    (drf.MethodNotAllowed, errors.MethodNotAllowed),
    (drf.NotAcceptable, errors.NotAcceptable),
    (drf.UnsupportedMediaType, errors.UnsupportedMediaType),
    (Http404, errors.NotFound),
    (django.RequestDataTooBig, errors.PayloadTooLarge),
    (django.SuspiciousOperation, errors.InvalidRequest),
    (MultiPartParserError, errors.InvalidRequest),
)
_DATABASE_UNAVAILABLE = (db.OperationalError, db.InterfaceError)
# Also unavailable, by SQLSTATE, though psycopg calls them internal: the server became a standby, or it ended a session
# whose process had stopped in the middle of a transaction.
_UNAVAILABLE_STATES = {"25006", "25P03"}


def domain_error(exc: Exception) -> errors.SweepApiError:
    """Return the error to answer with; what is not expected is an ``InternalError``."""
    match exc:
        case errors.SweepApiError():
            return exc
        case drf.ValidationError():
            return errors.InvalidRequest(details=list(islice(field_errors(exc.detail), errors.MAX_DETAILS + 1)))
        case drf.ParseError():
            return errors.InvalidRequest(str(exc.detail))
        case drf.Throttled():
            return errors.RateLimited(retry_after_seconds=exc.wait)  # type: ignore[attr-defined] # missing in the stubs
        case django.BadRequest():
            return errors.InvalidRequest(str(exc))
    return _equivalent(exc)


def _equivalent(exc: Exception) -> errors.SweepApiError:
    if isinstance(exc, _DATABASE_UNAVAILABLE) or (
        isinstance(exc, db.InternalError) and getattr(exc.__cause__, "sqlstate", None) in _UNAVAILABLE_STATES
    ):
        return errors.ServiceUnavailable(retry_after_seconds=DATABASE_RETRY_AFTER_SECONDS)
    matching = (equivalent() for kind, equivalent in _EQUIVALENTS if isinstance(exc, kind))
    return next(matching, errors.InternalError())
