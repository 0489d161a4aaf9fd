"""Every error that a request can end with, as one tree that knows nothing of HTTP.

``sweepapi/api/errors/error_table.py`` says how each is answered. A class's docstring is its default message to the
caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_DETAILS = 32


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field: its path in the body (``tokens[2].amount``), a stable code and a sentence."""

    field: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class RefusedToken(FieldError):
    """A token that can't be swept, named by its field."""

    value: str | None  # a decimal number in the smallest unit of the reference stablecoin; None if it can't be swapped


class SweepApiError(Exception):
    """The request failed."""

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Sequence[FieldError] = (),
        retry_after_seconds: int | None = None,
    ) -> None:
        self.message = message or self.default_message()
        if len(details) > MAX_DETAILS:
            self.message += f" These are the first {MAX_DETAILS} problems; there are more."
        self.details = tuple(details)[:MAX_DETAILS]
        self.retry_after_seconds = retry_after_seconds
        super().__init__(self.message)

    @classmethod
    def default_message(cls) -> str:
        """Return the docstring on one line."""
        return " ".join((cls.__doc__ or "").split())


class InvalidRequest(SweepApiError):
    """The request is invalid; details lists each field and the reason."""


class ForbiddenField(SweepApiError):
    """Partner identity, recipients and fees are set by the API key and cannot be sent in the body."""


class UnsupportedChain(SweepApiError):
    """The chain is not supported; GET /v1/status and GET /v2/status list the supported chains."""


class MissingApiKey(SweepApiError):
    """Send your API key in the x-api-key header."""


class InvalidApiKey(SweepApiError):
    """The API key is invalid."""


class PartnerSuspended(SweepApiError):
    """The partner account is suspended."""


class IpNotAllowed(SweepApiError):
    """The API key does not work from this IP address."""


class InsufficientScope(SweepApiError):
    """The API key lacks the scope that this request needs; details names it."""


class LiveKeyRefused(SweepApiError):
    """The sandbox is for test keys only."""


class NotFound(SweepApiError):
    """No such endpoint."""


class SweepNotFound(SweepApiError):
    """No such sweep."""


class WebhookNotFound(SweepApiError):
    """No such webhook endpoint."""


class StatementNotFound(SweepApiError):
    """No such statement; a month is written as YYYY-MM."""


class EntryNotFound(SweepApiError):
    """The statement's tree has no such entry."""


class MethodNotAllowed(SweepApiError):
    """Method not allowed."""


class NotAcceptable(SweepApiError):
    """The response is not available in any media type that the Accept header allows."""


class PayloadTooLarge(SweepApiError):
    """The body is larger than 256 KiB, or than 2 MiB for confirm."""


class UnsupportedMediaType(SweepApiError):
    """Send the body as application/json."""


class RequestTimeout(SweepApiError):
    """The request did not arrive in time."""


class SweepAlreadyConfirmed(SweepApiError):
    """The sweep was already executed; details names the transaction."""


class SweepExpired(SweepApiError):
    """The sweep expired before a transaction executed it."""


class SweepVoid(SweepApiError):
    """The sweep was voided, or its authorization was cancelled on chain."""


class SweepFailed(SweepApiError):
    """The sweep failed permanently; build a new one."""


class NewBuildRequired(SweepApiError):
    """What the user signs for this sweep can't be offered any more; build a new one."""


class TooManyOffers(SweepApiError):
    """The sweep was offered too often; build a new one."""


class TooManyCandidates(SweepApiError):
    """Too many transaction hashes were submitted for this sweep."""


class SweepNotVoidable(SweepApiError):
    """The sweep is not pending, or a transaction was submitted for it that may still be mined."""


class ReceiptNotReady(SweepApiError):
    """The sweep has no final execution, or its entries have no numbers yet; details shows its status and finality."""


class StatementNotReady(SweepApiError):
    """The month is not over, or was over only minutes ago."""


class SweepNotCancellable(SweepApiError):
    """The sweep was executed or is closed, so there is nothing to cancel."""


class IdempotencyKeyReused(SweepApiError):
    """Another body was sent under this Idempotency-Key; use a new key for another request."""


class IdempotencyInProgress(SweepApiError):
    """The first request with this Idempotency-Key is still being answered; repeat it to get its answer."""


class TooManyWebhooks(SweepApiError):
    """There are 10 webhook endpoints already; delete one first."""


class TokensRefused(SweepApiError):
    """Some tokens can't be swept; details has each with reason and value. "onUnroutable": "skip" leaves them out."""


class EventMismatch(SweepApiError):
    """The transaction does not match what was signed for this sweep."""


class TransactionReverted(SweepApiError):
    """The transaction reverted on chain."""


class Uneconomic(SweepApiError):
    """The sweep costs its user more than it brings; details has the cost of each way. acceptUneconomic allows it."""


class SignatureInvalid(SweepApiError):
    """A signature is not the wallet's of what this sweep has it sign; details says whose it is, if that can be told."""


class WouldRevert(SweepApiError):
    """The signatures are good, but the transaction would revert now; details says why."""


class ExecutionNotOffered(SweepApiError):
    """The sweep's newest offer can't be executed in this way."""


class RateLimited(SweepApiError):
    """Too many requests; wait for the seconds in Retry-After."""


class TooManyExports(SweepApiError):
    """Other exports are under way; try again in a few seconds."""


class InternalError(SweepApiError):
    """Something went wrong on our side."""


class BadGateway(SweepApiError):
    """The service can't be reached; repeat the request in a few seconds."""


class GatewayTimeout(SweepApiError):
    """The service did not answer in time."""


class ServiceUnavailable(SweepApiError):
    """The service is temporarily unavailable."""


class TooManyAtOnce(SweepApiError):
    """Too many requests that wait for a chain are under way; try again after the seconds in Retry-After."""


class ChainUnavailable(SweepApiError):
    """No RPC provider of this chain is responding."""


class InsufficientBalance(SweepApiError):
    """The wallet does not hold what the sweep needs; details says what is missing."""


class SwapUnavailable(SweepApiError):
    """The swap service gave no answer that could be used; nothing was stored."""


class BuildDisabled(SweepApiError):
    """Building sweeps is temporarily disabled."""
