"""One JSON-RPC call, and how its response is checked and decoded."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sweepapi.rpc.errors import BadResponseError, CallFailedError

# Code 3 is "execution reverted" by the execution-apis specification; other nodes report a failure of the called code in
# words. Anything else (limits, a missing header, an internal error) is the provider's own failure.
REVERTED_CODE = 3
EXECUTION_WORDS = re.compile(
    r"revert|out ?of ?gas|gas required|opcode|stack|invalid jump|execution|EVM error", re.IGNORECASE
)


class ErrorPolicy(Enum):
    """Which errors of a node are results, returned as a ``CallFailedError``; on any other the provider fails over."""

    NONE = "none"
    EXECUTION = "execution"  # the called code failed, as it would on any node
    ANY = "any"  # also a node's refusal, or a response that can't be decoded


@dataclass(frozen=True)
class Call:
    """One JSON-RPC call and how to read its response.

    ``decode`` turns the result into what the caller needs and raises ``BadResponseError`` for an impossible one.
    ``read_error``, if given, turns a node's error into a value; ``error_policy`` then counts only for a result
    that can't be decoded.
    """

    method: str
    params: tuple[Any, ...]
    decode: Callable[[Any], Any]
    error_policy: ErrorPolicy = ErrorPolicy.NONE
    read_error: Callable[[object], Any] | None = None
    as_sent: bool = False  # it tries a transaction, under the terms on which that is executed


def read(call: Call, response: object) -> Any:  # noqa: ANN401 - of the type that the call decodes to
    if not isinstance(response, dict) or ("result" not in response and "error" not in response):
        raise BadResponseError(f"{call.method}: neither result nor error")
    if response.get("error") is None:
        return _decoded(call, response.get("result"))
    if call.read_error is not None:
        return call.read_error(response["error"])
    return _failure(call, response["error"])


def _decoded(call: Call, result: object) -> Any:  # noqa: ANN401 - as above
    try:
        return call.decode(result)
    except CallFailedError as failure:
        if call.error_policy is ErrorPolicy.NONE:
            raise BadResponseError(str(failure)) from failure
        return failure
    except BadResponseError as error:
        if call.error_policy is ErrorPolicy.ANY:
            return CallFailedError(str(error))
        raise


def is_execution_failure(error: object) -> bool:
    """Whether a node's error is a failure of the called code, and not of the node."""
    return isinstance(error, dict) and (
        error.get("code") == REVERTED_CODE or EXECUTION_WORDS.search(str(error.get("message"))) is not None
    )


def _failure(call: Call, error: object) -> CallFailedError:
    """Return a node's error if the policy accepts it; the node's message is left out because it may quote the URL."""
    is_accepted_failure = call.error_policy is ErrorPolicy.EXECUTION and is_execution_failure(error)
    if call.error_policy is ErrorPolicy.ANY or is_accepted_failure:
        return CallFailedError(f"{call.method} failed")
    raise BadResponseError(f"{call.method}: the node returned an error")
