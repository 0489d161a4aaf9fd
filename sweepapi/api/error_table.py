"""How each error is answered over HTTP, in one table; ``docs/errors.md`` shows it to partners.

Codes are a promise: they may be added, never renamed.
"""

from dataclasses import dataclass

from sweepapi import errors


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """How one class of errors is answered; ``retryable`` says whether the same request can succeed later."""

    code: str
    status: int
    retryable: bool = False


ERROR_TABLE: dict[type[errors.SweepApiError], ErrorRow] = {
    errors.InvalidRequest: ErrorRow("invalid_request", 400),
    errors.ForbiddenField: ErrorRow("forbidden_field", 400),
    errors.UnsupportedChain: ErrorRow("unsupported_chain", 400),
    errors.MissingApiKey: ErrorRow("missing_api_key", 401),
    errors.InvalidApiKey: ErrorRow("invalid_api_key", 401),
    errors.PartnerSuspended: ErrorRow("partner_suspended", 403),
    errors.PermissionDenied: ErrorRow("permission_denied", 403),
    errors.NotFound: ErrorRow("not_found", 404),
    errors.SweepNotFound: ErrorRow("sweep_not_found", 404),
    errors.MethodNotAllowed: ErrorRow("method_not_allowed", 405),
    errors.NotAcceptable: ErrorRow("not_acceptable", 406),
    errors.SweepAlreadyConfirmed: ErrorRow("sweep_already_confirmed", 409),
    errors.SweepExpired: ErrorRow("sweep_expired", 409),
    errors.SweepVoid: ErrorRow("sweep_void", 409),
    errors.SweepFailed: ErrorRow("sweep_failed", 409),
    errors.TooManyCandidates: ErrorRow("too_many_candidates", 409),
    errors.PayloadTooLarge: ErrorRow("payload_too_large", 413),
    errors.UnsupportedMediaType: ErrorRow("unsupported_media_type", 415),
    errors.NoRoute: ErrorRow("no_route", 422),
    errors.EventMismatch: ErrorRow("event_mismatch", 422),
    errors.TransactionReverted: ErrorRow("transaction_reverted", 422),
    errors.InsufficientOutput: ErrorRow("insufficient_output", 422),
    errors.RateLimited: ErrorRow("rate_limited", 429, retryable=True),
    errors.InternalError: ErrorRow("internal_error", 500, retryable=True),
    errors.ServiceUnavailable: ErrorRow("service_unavailable", 503, retryable=True),
    errors.ChainUnavailable: ErrorRow("chain_unavailable", 503, retryable=True),
    errors.BuildDisabled: ErrorRow("build_disabled", 503, retryable=True),
}
