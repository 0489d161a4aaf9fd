"""What an account is: a key, a contract, or a key that delegates to a contract; and whether its code checks signatures.

Permit2 asks the code of any account that has some (EIP-1271), so what the key of a delegated account signs (EIP-7702)
counts only if the code that it delegates to says so.
"""

from enum import StrEnum

from eth_utils.address import to_checksum_address

from sweepapi.evm.chain.multicall import AGGREGATE3, plain_call, results_of
from sweepapi.evm.contracts.batch_account import BATCH_MODE, SUPPORTS_EXECUTION_MODE
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

IS_VALID_SIGNATURE = Function("isValidSignature(bytes32,bytes)", "(bytes4)")
NO_SUCH_FUNCTION = Function("sweepapiUnknownFunction(bytes32,bytes)")
DELEGATION_PREFIX = bytes.fromhex("ef0100")
_DELEGATION_BYTES = 23
PROBE_GAS_LIMIT = 2_000_000
PROBED_HASH = b"\x01" * 32
# Well formed (r is the x of the curve's generator), so that code which recovers a signer does not fail, but answers as
# it does about any other account's signature.
PROBED_SIGNATURE = (
    bytes.fromhex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    + (1).to_bytes(32, "big")
    + bytes([27])
)


class AccountCode(StrEnum):
    """Which kind of code an account has."""

    NONE = "none"
    CONTRACT = "contract"
    DELEGATED = "delegated"


def kind_of(code: bytes) -> AccountCode:
    """Return the kind of an account with this code."""
    if not code:
        return AccountCode.NONE
    return AccountCode.CONTRACT if delegate_of(code) is None else AccountCode.DELEGATED


def delegate_of(code: bytes) -> str | None:
    """Return the contract that an account delegates to; None if it does not."""
    if len(code) != _DELEGATION_BYTES or not code.startswith(DELEGATION_PREFIX):
        return None
    return str(to_checksum_address(code[len(DELEGATION_PREFIX) :]))


def signature_probe(*, account: str, multicall3: str) -> Call:
    """Return the call that asks an account with code about a signature that is not its own.

    Its result is True if the code answered as EIP-1271 says, False if it answers the same when it is called with an
    unknown function, and None otherwise: a check of signatures may revert on a signature that it can't read.
    """
    arguments = (PROBED_HASH, PROBED_SIGNATURE)
    questions = [(account, True, function.encode(*arguments)) for function in (IS_VALID_SIGNATURE, NO_SUCH_FUNCTION)]
    transaction = {"to": multicall3, "data": f"0x{AGGREGATE3.encode(questions).hex()}", "gas": hex(PROBE_GAS_LIMIT)}

    def decode(value: object) -> bool | None:
        answer, control = results_of(responses.data(value), len(questions))
        if _is_answer(*answer):
            return True
        return False if answer == control else None

    return Call("eth_call", (transaction, "latest"), decode, ErrorPolicy.EXECUTION)


def batch_probe(account: str) -> Call:
    """Return the call that asks an account with code whether it makes batches as ERC-7821 says; True if so."""
    return plain_call(
        function=SUPPORTS_EXECUTION_MODE,
        to=account,
        arguments=(BATCH_MODE,),
        sender=account,
        gas=PROBE_GAS_LIMIT,
    )


def answers_eip1271(probed: bool | CallFailedError | None) -> bool | None:  # noqa: FBT001 - the result of the probe
    """Return the result of the probe, also None if the code burnt all gas."""
    return None if isinstance(probed, CallFailedError) else probed


def _is_answer(succeeded: bool, output: bytes) -> bool:  # noqa: FBT001 - as the ABI decodes it
    try:
        return succeeded and bool(IS_VALID_SIGNATURE.decode(output))
    except BadResponseError:
        return False
