"""Which of thousands of tokens a wallet holds, and which have a pool, in a few short calls.

An ``eth_call`` with a state override puts the code of ``TokenSurvey`` at an address of its own, where it asks tokens
and factories. Each token has a gas limit there and none of its answer is copied but a word, so it can harm no other.
Without an answer, as from a provider that overrides no code, any token may be held, and none has a pool.
"""

from collections.abc import Sequence

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function, exported_code
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.evm.pools import finder
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError

HELD = Function("held(address[],address,uint256)", "(bytes)")
POOLED = Function("pooled(address[],(address,bytes)[])", "(bytes)")
CODE_ADDRESS = keccak_hex(b"sweepapi token survey")[:42]
ANY_TOKEN = keccak_hex(b"sweepapi any token")[:42]  # in whose place the survey puts each token
CALL_GAS = 20_000_000  # half of what most nodes let one request burn
BALANCE_GAS = 200_000  # of a token: several times what those behind a proxy need
PLACE_GAS = 5_000  # more than a factory needs to say where a pool is


def held_calls(tokens: Sequence[str], *, wallet: str) -> list[Call]:
    """Return the calls that say which tokens a wallet holds; each results in the list of those."""
    size = CALL_GAS // BALANCE_GAS
    parts = [tokens[start : start + size] for start in range(0, len(tokens), size)]
    return [_survey(part, HELD, HELD.encode(part, wallet, BALANCE_GAS)) for part in parts]


def pooled_calls(tokens: Sequence[str], *, chain: Chain, output: str) -> list[Call]:
    """Return the calls that say which tokens have a pool that can lead to the output; each results in these tokens."""
    pairs = [(ANY_TOKEN, other) for other in dict.fromkeys([*chain.middle_tokens, output])]
    reads = finder.pool_reads(finder.pool_keys([*chain.venues, *chain.routers], pairs))
    places = [(read.target, read.function.encode(*read.arguments)) for read in reads]
    size = max(CALL_GAS // (PLACE_GAS * max(len(places), 1)), 1)
    parts = [tokens[start : start + size] for start in range(0, len(tokens), size)]
    return [_survey(part, POOLED, POOLED.encode(part, places)) for part in parts]


def _survey(tokens: Sequence[str], function: Function, encoded: bytes) -> Call:
    transaction = {"to": CODE_ADDRESS, "data": f"0x{encoded.hex()}", "gas": hex(CALL_GAS)}
    overrides = {CODE_ADDRESS: {"code": exported_code("TokenSurvey")}}

    def decode(value: object) -> list[str]:
        (found,) = function.decode(responses.data(value))
        if len(found) != len(tokens):
            raise BadResponseError("the survey is about other tokens")
        return [token for token, answer in zip(tokens, found, strict=True) if answer]

    return Call("eth_call", (transaction, "latest", overrides), decode, ErrorPolicy.ANY)
