"""Every error the API can answer with, as one tree; ``docs/errors.md`` shows the same table to partners.

Codes are a promise: they may be added, never renamed. A class's docstring is its default message to the caller.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

MAX_DETAILS = 100


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field: its path in the body (``tokens[2].amount``), a stable code and a sentence."""

    field: str
    code: str
    message: str


class ApiError(Exception):
    """The request could not be answered."""

    code: ClassVar[str]
    status: ClassVar[int]
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Sequence[FieldError] = (),
        retry_after_seconds: int | None = None,
    ) -> None:
        self.message = message or self.default_message()
        self.details = tuple(details)[:MAX_DETAILS]
        self.retry_after_seconds = retry_after_seconds
        super().__init__(self.message)

    @classmethod
    def default_message(cls) -> str:
        """Return the docstring on one line."""
        return " ".join((cls.__doc__ or "").split())


class InvalidRequest(ApiError):
    """The request is not valid; the details say which fields and why."""

    code, status = "invalid_request", 400


class ForbiddenField(ApiError):
    """Partner identity, recipients and fees come from the API key and are never accepted in a body."""

    code, status = "forbidden_field", 400


class UnsupportedChain(ApiError):
    """The chain is not supported; GET /v2/status lists those that are."""

    code, status = "unsupported_chain", 400


class MissingApiKey(ApiError):
    """Send your API key in the x-api-key header."""

    code, status = "missing_api_key", 401


class InvalidApiKey(ApiError):
    """The API key is not valid."""

    code, status = "invalid_api_key", 401


class PartnerSuspended(ApiError):
    """The partner account is suspended."""

    code, status = "partner_suspended", 403


class NotFound(ApiError):
    """There is nothing at this address."""

    code, status = "not_found", 404


class SweepNotFound(ApiError):
    """There is no sweep with this id."""

    code, status = "sweep_not_found", 404


class MethodNotAllowed(ApiError):
    """The address does not answer to this method."""

    code, status = "method_not_allowed", 405


class PayloadTooLarge(ApiError):
    """The body is larger than 256 KiB."""

    code, status = "payload_too_large", 413


class UnsupportedMediaType(ApiError):
    """Send the body as application/json."""

    code, status = "unsupported_media_type", 415


class SweepAlreadyConfirmed(ApiError):
    """The sweep was already confirmed with another transaction."""

    code, status = "sweep_already_confirmed", 409


class SweepExpired(ApiError):
    """The sweep's fee authorization expired before a transaction used it."""

    code, status = "sweep_expired", 409


class SweepVoid(ApiError):
    """The sweep was voided, or its authorization cancelled on chain."""

    code, status = "sweep_void", 409


class SweepFailed(ApiError):
    """The sweep failed for good; build a new one."""

    code, status = "sweep_failed", 409


class TooManyCandidates(ApiError):
    """Too many transaction hashes were submitted for this sweep."""

    code, status = "too_many_candidates", 409


class NoRoute(ApiError):
    """No route was found for some of the tokens."""

    code, status = "no_route", 422


class EventMismatch(ApiError):
    """The transaction does not carry out this sweep's fee authorization."""

    code, status = "event_mismatch", 422


class TransactionReverted(ApiError):
    """The transaction reverted on chain."""

    code, status = "transaction_reverted", 422


class InsufficientOutput(ApiError):
    """The least the user would receive rounds to zero."""

    code, status = "insufficient_output", 422


class InternalError(ApiError):
    """Something went wrong on our side."""

    code, status, retryable = "internal_error", 500, True


class ChainUnavailable(ApiError):
    """No provider of this chain answers at the moment."""

    code, status, retryable = "chain_unavailable", 503, True


class BuildDisabled(ApiError):
    """Building sweeps is switched off at the moment."""

    code, status, retryable = "build_disabled", 503, True


def error_classes() -> Iterator[type[ApiError]]:
    """Yield every class of the tree that has a code, in the order of this file."""
    yield from ApiError.__subclasses__()
