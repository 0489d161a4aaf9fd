"""Several contract reads in one ``eth_call`` through Multicall3, each of which may fail without the others.

Tokens are hostile: one that burns all gas fails its whole ``eth_call``. So the reads of a token share a call only with
other reads of that token, and a batch of such calls is still one round trip.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.abi_encoding import WORD_BYTES
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

AGGREGATE3 = Function("aggregate3((address,bool,bytes)[])")
BLOCK_TIMESTAMP = Function("getCurrentBlockTimestamp()", "(uint256)")


@dataclass(frozen=True)
class Read:
    """One read of a contract: the target, the function and its arguments."""

    target: str
    function: Function
    arguments: tuple[Any, ...] = ()


def multicall(  # noqa: PLR0913 - the parameters of one eth_call
    *,
    multicall3: str,
    reads: Sequence[Read],
    at: str | int = "latest",
    error_policy: ErrorPolicy = ErrorPolicy.NONE,
    require_all: bool = False,
    gas: int | None = None,
    overrides: dict[str, Any] | None = None,
) -> Call:
    """Return the call that makes these reads on one block.

    Its result is a list with, for each read, the tuple of returned values, or None if that read failed or returned
    other types; with ``require_all`` such a None makes the whole response unusable, for contracts whose reads fail only
    at a provider that lags or lies. ``error_policy`` says whether a failure of the whole call is a result (see
    ``Call``); ``gas`` bounds what the contracts may burn and return, by default as the node does; ``overrides`` is the
    state that is different for the duration of the call.
    """
    packed = AGGREGATE3.encode([(read.target, True, read.function.encode(*read.arguments)) for read in reads])
    tag = hex(at) if isinstance(at, int) else at

    def decode(value: object) -> list[Any]:
        output = responses.data(value)
        if error_policy is not ErrorPolicy.NONE and not output:
            raise CallFailedError("Multicall3 was not deployed at that block")
        results = results_of(output, len(reads))
        values = [_value(read, *result) for read, result in zip(reads, results, strict=True)]
        if require_all and None in values:
            raise BadResponseError("a required read failed")
        return values

    transaction = {"to": multicall3, "data": "0x" + packed.hex()} | ({} if gas is None else {"gas": hex(gas)})
    parameters = (transaction, tag) if overrides is None else (transaction, tag, overrides)
    return Call("eth_call", parameters, decode, error_policy)


def results_of(output: bytes, count: int) -> Iterator[tuple[bool, bytes]]:
    """Yield this many results of ``(bool,bytes)[]``; raises ``BadResponseError`` for anything else."""
    results = _word(output, 0) + WORD_BYTES  # each is behind an offset that counts from here
    if _word(output, results - WORD_BYTES) != count:
        raise BadResponseError("multicall returned a different number of results")
    for position in range(count):
        result = results + _word(output, results + WORD_BYTES * position)
        returned = result + _word(output, result + WORD_BYTES)
        end = returned + WORD_BYTES + _word(output, returned)
        if end > len(output):
            raise BadResponseError("multicall returned results of another shape")
        yield _word(output, result) != 0, output[returned + WORD_BYTES : end]


def _word(output: bytes, start: int) -> int:
    if start + WORD_BYTES > len(output):
        raise BadResponseError("multicall returned results of another shape")
    return int.from_bytes(output[start : start + WORD_BYTES])


def _value(read: Read, succeeded: bool, output: bytes) -> Any:  # noqa: ANN401, FBT001 - as the ABI decodes it
    if not succeeded:
        return None
    try:
        return read.function.decode(output)
    except BadResponseError:
        return None


def plain_call(*, function: Function, to: str, arguments: tuple[Any, ...], sender: str, gas: int) -> Call:
    """Return one ``eth_call`` on the latest block whose failure is a result."""
    transaction = {"from": sender, "to": to, "data": "0x" + function.encode(*arguments).hex(), "gas": hex(gas)}

    def decode(value: object) -> Any:  # noqa: ANN401 - as the ABI decodes it
        try:
            return function.decode(responses.data(value))
        except BadResponseError as error:
            raise CallFailedError(str(error)) from error

    return Call("eth_call", (transaction, "latest"), decode, ErrorPolicy.EXECUTION)
