"""Finding out whether a token can be transferred, and whether it keeps a part, without a signature or a transaction.

An ``eth_call`` with a state override puts the code of ``TransferProbe`` at a holder of the token (a pool or the user)
and at an empty address; the holder sends some of the token there and gets it back. A tax on buying or on selling shows
as a difference. Only the code of these two addresses is overridden.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from eth_utils.address import to_checksum_address

from sweepapi.evm.abi import Function
from sweepapi.evm.addresses import keccak_hex
from sweepapi.evm.multicall import plain_call
from sweepapi.rpc import Call, ErrorPolicy

PROBE = Function("probe(address,uint256,address)", "(uint256,uint256,uint256)")
PEER = to_checksum_address(keccak_hex(b"sweepapi transfer probe")[:42])
# Enough for two transfers of an expensive token, too little for one that tries to occupy the node.
GAS_LIMIT = 3_000_000


@dataclass(frozen=True)
class Probe:
    """A holder of a token that is made to send some of it away and get it back."""

    token: str
    holder: str
    is_pool: bool  # whether the holder is a pool of the token's route; otherwise it is the user


@dataclass(frozen=True)
class TransferTest:
    """What a probe measured; amounts in the token's smallest unit."""

    sent: int
    received: int
    received_back: int

    @property
    def taxed(self) -> bool:
        """Whether either transfer delivered a different amount than was sent."""
        return self.received != self.sent or self.received_back != self.sent


@cache
def _runtime_code() -> str:
    artifact = json.loads((Path(__file__).parent / "abi" / "TransferProbe.json").read_text(encoding="utf-8"))
    code: str = artifact["deployedBytecode"]
    return code


def transfer_probe(probe: Probe, *, max_amount: int) -> Call:
    """Return the call that sends up to ``max_amount`` from the holder and back.

    Its result is a ``TransferTest``, or a ``CallFailedError`` if the token refused.
    """
    overrides = {address: {"code": _runtime_code()} for address in (probe.holder, PEER)}
    call = plain_call(
        function=PROBE,
        to=probe.holder,
        arguments=(probe.token, max_amount, PEER),
        sender=probe.holder,
        overrides=overrides,
        gas=GAS_LIMIT,
    )

    def decode(value: object) -> Any:  # noqa: ANN401 - TransferTest
        return TransferTest(*call.decode(value))

    return Call(call.method, call.params, decode, ErrorPolicy.EXECUTION)
