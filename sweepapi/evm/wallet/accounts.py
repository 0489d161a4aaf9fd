"""What an account is: a key, a contract, or a key that delegates to a contract; and whether its code checks signatures.

Permit2 asks the code of any account that has some (EIP-1271), so what the key of a delegated account signs (EIP-7702)
counts only if the code that it delegates to says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eth_utils.address import to_checksum_address

from sweepapi.evm.chain.multicall import AGGREGATE3, plain_call, results_of
from sweepapi.evm.contracts.batch_account import BATCH_MODE, SUPPORTS_EXECUTION_MODE
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

IS_VALID_SIGNATURE = Function("isValidSignature(bytes32,bytes)", "(bytes4)")
MAGIC_VALUE = IS_VALID_SIGNATURE.selector
# With an empty signature, and the answer of accounts that nest typed data (ERC-7739).
NESTING_HASH, NESTING_ANSWER = bytes.fromhex("7739" * 16), bytes.fromhex("77390001")
SOME_GAS_PRICE = 10**15  # in wei, above that of any block
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


@dataclass(frozen=True)
class SignatureChecks:
    """What an account's code showed of how it checks signatures."""

    answers_eip1271: bool | None  # None if its answer shows neither
    nests_typed_data: bool  # it announces that the key signs typed data nested in the account's own (ERC-7739)


UNKNOWN_CHECKS = SignatureChecks(None, nests_typed_data=False)


def signature_probe(*, account: str, multicall3: str) -> Call:
    """Return the call that asks an account with code about a signature that is not its own.

    In its result ``answers_eip1271`` is True if the code answered as EIP-1271 says, False if it answers the same when
    it is called with an unknown function, and None otherwise: a check of signatures may revert on a signature that it
    can't read.
    """
    questions = [
        IS_VALID_SIGNATURE.encode(PROBED_HASH, PROBED_SIGNATURE),
        NO_SUCH_FUNCTION.encode(PROBED_HASH, PROBED_SIGNATURE),
        IS_VALID_SIGNATURE.encode(NESTING_HASH, b""),
    ]
    data = AGGREGATE3.encode([(account, True, question) for question in questions])

    def decode(value: object) -> SignatureChecks:
        answer, control, (nests, nesting) = results_of(responses.data(value), len(questions))
        succeeded, output = answer
        answers = True if answered(output, succeeded=succeeded) is not None else False if answer == control else None
        return SignatureChecks(answers, nests_typed_data=answered(nesting, succeeded=nests) == NESTING_ANSWER)

    parameters = as_transaction(to=multicall3, data=data, gas=PROBE_GAS_LIMIT)
    return Call("eth_call", parameters, decode, ErrorPolicy.EXECUTION)


def batch_probe(account: str) -> Call:
    """Return the call that asks an account with code whether it makes batches as ERC-7821 says; True if so."""
    return plain_call(
        function=SUPPORTS_EXECUTION_MODE,
        to=account,
        arguments=(BATCH_MODE,),
        sender=account,
        gas=PROBE_GAS_LIMIT,
    )


def checks_of(probed: SignatureChecks | CallFailedError | None) -> SignatureChecks:
    """Return the result of the probe, also if the code burnt all gas, or there was none to probe."""
    return probed if isinstance(probed, SignatureChecks) else UNKNOWN_CHECKS


def validity_check(*, account: str, digest: bytes, signature: bytes, sender: str, gas: int) -> Call:
    """Return the call that asks an account with code whether a signature is good; its failure is a result."""
    data = IS_VALID_SIGNATURE.encode(digest, signature)

    def decode(value: object) -> bool:
        return answered(responses.data(value)) == MAGIC_VALUE

    return Call(
        "eth_call", as_transaction(to=account, data=data, gas=gas, sender=sender), decode, ErrorPolicy.EXECUTION
    )


def as_transaction(
    *, to: str, data: bytes, gas: int, sender: str = ZERO_ADDRESS, overrides: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], str, dict[str, Any]]:
    """Return the parameters of an ``eth_call`` that code can't tell from a transaction by its gas price.

    Code may accept more signatures in a call than in a transaction (Solady's ``ERC1271`` does), and tells them apart by
    a gas price of zero. The sender gets what it needs to pay one.
    """
    call = {"from": sender, "to": to, "data": f"0x{data.hex()}", "gas": hex(gas), "gasPrice": hex(SOME_GAS_PRICE)}
    return call, "latest", {sender: {"balance": hex(gas * SOME_GAS_PRICE)}, **(overrides or {})}


def answered(output: bytes, *, succeeded: bool = True) -> bytes | None:
    """Return the four bytes that a call of ``isValidSignature`` returned; None if it did not."""
    try:
        return bytes(IS_VALID_SIGNATURE.decode(output)[0]) if succeeded else None
    except BadResponseError:
        return None
