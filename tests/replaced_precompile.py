"""A node that replaces the precompile ``ecrecover`` for a call, as most nodes do and the local one does not.

The local node executes the replacing code at another address, and at the delegate's its own code with that address in
place of the precompile's, which solc writes into it once. So real code of accounts runs with real replacing code.
"""

from typing import Any

from eth_abi.abi import decode

from sweepapi.evm.chain.multicall import AGGREGATE3
from sweepapi.evm.wallet.plain_signatures import ECRECOVER
from tests.fake_node import Alter
from tests.local_chain import LocalChain
from tests.wallets import code_at

OTHER_ADDRESS = f"0x{0xEC:040x}"
# PUSH1 1, GAS, STATICCALL: how compiled code calls the precompile.
CALLS_PRECOMPILE, CALLS_OTHER_ADDRESS = "60015afa", "60ec5afa"


def replacing_ecrecover(chain: LocalChain, *, by: str) -> Alter:
    """Replace it in calls by this method of JSON-RPC only."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method != by:
            return result
        if method == "eth_simulateV1":
            block = params[0]["blockStateCalls"][0]
            call, overrides = block["calls"][0] if block["calls"] else {}, block.get("stateOverrides", {})
        else:
            call, overrides = params[0], params[2] if len(params) > 2 else {}
        if ECRECOVER not in overrides:
            return result
        assert overrides[ECRECOVER]["movePrecompileToAddress"] not in overrides, "geth refuses that"
        returned = _replaced(chain, call, overrides)
        return [{"calls": [{"returnData": returned}]}] if method == "eth_simulateV1" else returned

    return alter


def _replaced(chain: LocalChain, call: dict[str, str], overrides: dict[str, Any]) -> Any:
    (questions,) = decode(["(address,bool,bytes)[]"], bytes.fromhex(call["data"][10:]))
    targets = [OTHER_ADDRESS if target == ECRECOVER else target for target, _, _ in questions]
    asked = [(target, allowed, data) for target, (_, allowed, data) in zip(targets, questions, strict=True)]
    kept = {address: facts for address, facts in overrides.items() if address != ECRECOVER}
    account = targets[-1]
    code = code_at(chain, account)
    runs = f"0x{code.removeprefix('ef0100')}" if code.startswith("ef0100") else account
    patched = code_at(chain, runs).replace(CALLS_PRECOMPILE, CALLS_OTHER_ADDRESS)
    states = {**kept, OTHER_ADDRESS: {"code": overrides[ECRECOVER]["code"]}, runs: {"code": f"0x{patched}"}}
    return chain.rpc("eth_call", call | {"data": f"0x{AGGREGATE3.encode(asked).hex()}"}, "latest", states)
