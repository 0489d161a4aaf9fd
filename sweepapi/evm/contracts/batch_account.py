"""The calls of an account that makes several in one transaction to itself, in the interface of ERC-7821."""

from collections.abc import Iterable

from eth_abi.abi import encode

from sweepapi.evm.encoding.abi import Function

EXECUTE = Function("execute(bytes32,bytes)")
SUPPORTS_EXECUTION_MODE = Function("supportsExecutionMode(bytes32)", "(bool)")
BATCH_MODE = b"\x01" + bytes(31)  # a batch whose calls must all succeed, without further data


def execute_calldata(calls: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the call of the account that makes these calls, each of a contract with this calldata and no coins."""
    batch = encode(["(address,uint256,bytes)[]"], [[(to, 0, data) for to, data in calls]])
    return EXECUTE.encode(BATCH_MODE, batch)
