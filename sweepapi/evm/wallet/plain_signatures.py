"""Whether a delegated account takes its key's signature of a digest as it is, asked before anyone signs.

The key can't be asked to sign for a question. But code that checks a key's signature asks the precompile ``ecrecover``
whose it is. So for one call other code is put there, which knows a single digest and says of it that the account signed
it. Code that passes the digest on accepts; code that hashes it again, as with the account's address, asks about another
one, and refuses. Not every node replaces a precompile, so the same call also asks the precompile itself: unless that
knows the digest, the answer shows nothing. ``docs/decisions/builds.md`` lists the nodes.
"""

from collections.abc import Sequence
from typing import Any

from eth_utils.crypto import keccak

from sweepapi.evm.chain.multicall import AGGREGATE3, results_of
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi_encoding import WORD_BYTES
from sweepapi.evm.encoding.addresses import eip55
from sweepapi.evm.wallet.accounts import (
    IS_VALID_SIGNATURE,
    MAGIC_VALUE,
    PROBE_GAS_LIMIT,
    PROBED_SIGNATURE,
    answered,
    as_transaction,
)
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError

ECRECOVER = f"0x{1:040x}"
# Where the precompile goes meanwhile: nodes that replace none can move one away.
MOVED_TO = eip55(keccak(b"sweepapi moved ecrecover")[-20:].hex())
DIGEST = keccak(b"sweepapi plain signature")  # any will do, because the code knows no other

# Delegates whose source compares the account with what ``ecrecover`` returns for the digest itself, at the addresses
# that their makers publish.
KNOWN_TO_TAKE_PLAIN = frozenset(
    (
        "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B",  # MetaMask's EIP7702StatelessDeleGator 1.3.0
        "0x7702cb554e6bFb442cb743A7dF23154544a7176C",  # Coinbase's EIP7702Proxy
        "0xe6Cae83BdE06E4c305530e199D7217f42808555B",  # eth-infinitism's Simple7702Account 0.8
        "0x4Cd241E8d1510e30b2076397afc7508Ae59C66c9",  # the same, for an EntryPoint before that
    )
)


def plain_signature_probes(*, account: str, multicall3: str) -> list[Call]:
    """Return the calls that ask it, in the two ways in which nodes replace a precompile.

    The result of each is True or False, None if the node did not replace it, or a failure.
    """
    questions = [
        (ECRECOVER, True, DIGEST + _recovered_from(PROBED_SIGNATURE)),
        (account, True, IS_VALID_SIGNATURE.encode(DIGEST, PROBED_SIGNATURE)),
    ]
    replaced = {ECRECOVER: {"code": f"0x{knowing_code(account).hex()}", "movePrecompileToAddress": MOVED_TO}}
    call, tag, overrides = as_transaction(
        to=multicall3, data=AGGREGATE3.encode(questions), gas=PROBE_GAS_LIMIT, overrides=replaced
    )

    def decode(value: object) -> bool | None:
        control, (succeeded, answer) = results_of(responses.data(value), len(questions))
        if control != (True, _padded(account)):
            return None
        return answered(answer, succeeded=succeeded) == MAGIC_VALUE

    simulated = {"blockStateCalls": [{"stateOverrides": overrides, "calls": [call]}]}
    return [
        Call("eth_call", (call, tag, overrides), decode, ErrorPolicy.ANY),
        Call("eth_simulateV1", (simulated, tag), lambda value: decode(_returned(value)), ErrorPolicy.ANY),
    ]


def takes_plain_signature(answers: Sequence[object], *, delegate: str | None, nests_typed_data: bool) -> bool | None:
    """Return what the results of the probes show, or else what is known of the delegate; None if nothing is."""
    shown = next((answer for answer in answers if isinstance(answer, bool)), None)
    if shown is not None:
        return shown
    if delegate in KNOWN_TO_TAKE_PLAIN:
        return True
    return False if nests_typed_data else None


def knowing_code(account: str) -> bytes:
    """Return code that answers as ``ecrecover`` does: the account for the digest, nothing for any other input.

    PUSH32 digest, PUSH0, CALLDATALOAD, EQ, PUSH1 40, JUMPI, STOP, JUMPDEST, PUSH20 account, PUSH0, MSTORE, PUSH1 32,
    PUSH0, RETURN.
    """
    before = b"\x7f" + DIGEST + bytes.fromhex("5f3514602857005b73")
    return before + bytes.fromhex(account[2:]) + bytes.fromhex("5f5260205ff3")


def _recovered_from(signature: bytes) -> bytes:
    """Return a signature as the precompile takes it, after the digest: v as a word, r and s."""
    return signature[-1].to_bytes(WORD_BYTES) + signature[:-1]


def _padded(account: str) -> bytes:
    return bytes.fromhex(account[2:]).rjust(WORD_BYTES, b"\x00")


def _returned(value: Any) -> object:  # noqa: ANN401 - JSON of any shape
    """Return what the only call of a simulation returned."""
    try:
        return value[0]["calls"][0]["returnData"]
    except (LookupError, TypeError) as error:
        raise BadResponseError("expected one simulated call") from error
