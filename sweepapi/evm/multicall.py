"""Several contract reads in one ``eth_call``, through Multicall3, each allowed to fail alone.

Tokens are hostile: one that burns all gas takes its whole ``eth_call`` down. So the reads that touch a token share a
call with nothing but that token's other reads, and a batch of such calls is still one round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm import answers
from sweepapi.evm.abi import Function
from sweepapi.evm.errors import BadAnswerError, CallFailedError
from sweepapi.evm.rpc import Call, MayFail

AGGREGATE3 = Function("aggregate3((address,bool,bytes)[])", "((bool,bytes)[])")
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
    may_fail: MayFail = MayFail.NEVER,
    all_needed: bool = False,
    gas: int | None = None,
) -> Call:
    """Return the call that makes these reads on one block.

    Its answer is a list with, for each read, the tuple of returned values, or None where that read failed or returned
    other types; with ``all_needed`` such a None makes the whole answer unusable, for contracts that can't fail but at a
    provider that lags or lies. ``may_fail`` says when the whole call failing is an answer (see ``Call``); ``gas``
    bounds what the read contracts may burn and return, by default as the node does.
    """
    packed = AGGREGATE3.encode([(read.target, True, read.function.encode(*read.arguments)) for read in reads])
    tag = hex(at) if isinstance(at, int) else at

    def decode(value: object) -> list[Any]:
        output = answers.data(value)
        if may_fail is not MayFail.NEVER and not output:
            raise CallFailedError("there was no Multicall3 on that block")
        (results,) = AGGREGATE3.decode(output)
        if len(results) != len(reads):
            raise BadAnswerError("multicall answered another number of reads")
        values = [_value(read, *result) for read, result in zip(reads, results, strict=True)]
        if all_needed and None in values:
            raise BadAnswerError("a read that can't fail failed")
        return values

    transaction = {"to": multicall3, "data": "0x" + packed.hex()} | ({} if gas is None else {"gas": hex(gas)})
    return Call("eth_call", (transaction, tag), decode, may_fail)


def _value(read: Read, succeeded: bool, output: bytes) -> Any:  # noqa: ANN401, FBT001 - as the ABI decodes it
    if not succeeded:
        return None
    try:
        return read.function.decode(output)
    except BadAnswerError:
        return None


def plain_call(  # noqa: PLR0913 - the parameters of eth_call
    *,
    function: Function,
    to: str,
    arguments: tuple[Any, ...],
    sender: str,
    gas: int,
    overrides: dict[str, Any] | None = None,
) -> Call:
    """Return one ``eth_call`` on the latest block whose failure is an answer."""
    transaction = {"from": sender, "to": to, "data": "0x" + function.encode(*arguments).hex(), "gas": hex(gas)}

    def decode(value: object) -> Any:  # noqa: ANN401 - as the ABI decodes it
        try:
            return function.decode(answers.data(value))
        except BadAnswerError as error:
            raise CallFailedError(str(error)) from error

    return Call("eth_call", (transaction, "latest", overrides or {}), decode, MayFail.IN_THE_EVM)
