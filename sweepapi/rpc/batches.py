"""JSON-RPC batches as nodes take and answer them: matched by id, whatever their order and what is beside them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint

from sweepapi.limits.nesting import is_nested_deeper
from sweepapi.rpc.calls import Call, is_execution_failure

MAX_RESPONSE_DEPTH = 32
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# geth answers what did not fit into its answer with an error of its own; the call itself is all right.
_TOO_LARGE = re.compile(r"batch (is )?too large|batch (size|limit)|response (is )?too large", re.IGNORECASE)


def encoded(calls: Sequence[Call]) -> bytes:
    """Return the request of a batch; the ids are the positions of the calls."""
    # A codec of its own numbers the calls of each batch from zero.
    return JSONBaseProvider().encode_batch_rpc_request([(RPCEndpoint(call.method), call.params) for call in calls])


def encoded_alone(call: Call) -> bytes:
    """Return the request of a call that is not in a batch, for nodes that take none."""
    return encoded([call]).removeprefix(b"[").removesuffix(b"]")


def parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return the answer; raises ``ValueError``."""
    text = body.removeprefix(_BYTE_ORDER_MARK)
    if is_nested_deeper(text.decode(), than=MAX_RESPONSE_DEPTH):
        raise ValueError("response exceeds the maximum depth")
    return JSONBaseProvider.decode_rpc_response(text)


def responses_of(answer: object) -> list[dict[str, Any]]:
    """Return what may be responses; notifications, nulls and the like are left out."""
    shown = answer if isinstance(answer, list) else [answer]
    return [one for one in shown if isinstance(one, dict) and ("result" in one or "error" in one)]


def by_position(responses: Sequence[dict[str, Any]], count: int) -> Mapping[int, dict[str, Any]]:
    """Return the responses by the positions of their calls; what is missing was not answered.

    Ids may be strings. A single error for several calls is about the batch, whatever its id.
    """
    if count > 1 and len(responses) == 1 and responses[0].get("error") is not None:
        return {}
    positions = {str(i): i for i in range(count)}
    found = {}
    for one in responses:
        identifier = one.get("id")
        position = positions.get(str(identifier)) if type(identifier) in (int, str) else None
        if position is not None and not (count > 1 and _did_not_fit(one)):
            found[position] = one
    return found


def _did_not_fit(response: Mapping[str, Any]) -> bool:
    error = response.get("error")
    if not isinstance(error, dict) or is_execution_failure(error):
        return False
    return _TOO_LARGE.search(str(error.get("message"))) is not None
