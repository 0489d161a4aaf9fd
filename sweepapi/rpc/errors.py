"""The errors of reading a network through its providers, for every family of networks."""

from typing import ClassVar


class RpcError(Exception):
    """Reading a network failed."""


class ChainUnavailableError(RpcError):
    """No provider of the network returned a usable response in time."""


class BadResponseError(RpcError):
    """A provider returned something that its method can't return."""

    outcome: ClassVar[str] = "unusable"  # as metrics name it


class NoAnswerError(BadResponseError):
    """A provider could not be reached, or did not answer in time."""

    outcome = "no_answer"


class TooLargeError(BadResponseError):
    """A response is larger than the caller reads."""


class BatchRefusedError(BadResponseError):
    """A provider did not answer all calls of a batch, which may be too large for it."""

    outcome = "refused"


class ThrottledError(BadResponseError):
    """A provider limits our requests; ``retry_after_seconds`` is None unless it says how long to wait."""

    outcome = "throttled"

    def __init__(self, message: str, *, retry_after_seconds: float | None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class WrongNetworkError(BadResponseError):
    """A provider is on another network."""

    outcome = "wrong_network"


class PausedError(BadResponseError):
    """A provider was not queried: it is in quarantine, or wants us to wait."""


class CallFailedError(RpcError):
    """The node returned an error that the caller accepts as a result (see ``ErrorPolicy``)."""
