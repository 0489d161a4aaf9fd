"""Calls for blocks. Nodes have two ways to say that there is none: null, and an error."""

from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call
from sweepapi.rpc.errors import BadResponseError

LIMIT_EXCEEDED = -32005  # by EIP-1474


def head_call() -> Call:
    return Call("eth_getBlockByNumber", ("latest", False), responses.block)


def optional_block_call(reference: str | int) -> Call:
    """Return the call for a safe or final block, or one at a height: None where the node has none.

    Send it with one for the head, which shows that the node is there and knows its chain. Nodes agree on neither code
    nor words of the error: execution-apis has -39001, go-ethereum -32000, Nethermind and reth say null.
    """
    tag = hex(reference) if isinstance(reference, int) else reference
    return Call("eth_getBlockByNumber", (tag, False), responses.optional_block, read_error=none_unless_limited)


def none_unless_limited(error: object) -> None:
    """Read an error as the absence of a block; raises ``BadResponseError`` if the node only limits our requests."""
    if isinstance(error, dict) and error.get("code") == LIMIT_EXCEEDED:
        raise BadResponseError("the node limits our requests")
