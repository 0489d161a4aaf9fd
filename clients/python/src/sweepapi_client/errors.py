"""What can go wrong, as types that a caller can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweepapi_client.types import ApiError, FieldError


class SweepApiError(Exception):
    """The API refused a request: `code` is stable, and `details` names each field."""

    def __init__(self, status: int, error: ApiError, retry_after_seconds: int | None) -> None:
        super().__init__(status, error, retry_after_seconds)
        self.status = status
        self.code: str = error["code"]
        self.details: list[FieldError] = error["details"]
        self.retryable: bool = error["retryable"]
        self.retry_after_seconds = retry_after_seconds
        self.request_id: str = error["requestId"]
        self.doc_url: str = error["docUrl"]
        self.message: str = error["message"]

    def __str__(self) -> str:
        fields = (f"\n  {detail['field']}: {detail['message']}" for detail in self.details)
        return f"{self.status} {self.code}: {self.message}{''.join(fields)}"


class NoAnswerError(Exception):
    """No answer of the API arrived: the request may have had its effect."""
