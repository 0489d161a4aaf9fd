"""Finding out whether a token can be transferred, and whether it keeps a part, without a signature or a transaction.

An ``eth_call`` with a state override puts the code of ``TransferProbe`` at holders of the token (pools and the user),
and at an empty address for each; the holder sends some of the token there and gets it back. A tax on buying or on
selling shows as a difference. Only the code of these addresses is overridden.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from eth_utils.address import to_checksum_address

from sweepapi.evm.abi import Function
from sweepapi.evm.addresses import keccak_hex
from sweepapi.evm.multicall import Read, multicall
from sweepapi.rpc import Call, ErrorPolicy

PROBE = Function("probe(address,uint256,address)", "(uint256,uint256,uint256)")
# Enough for two transfers of an expensive token, too little for one that tries to occupy the node.
GAS_LIMIT = 3_000_000
PROBES_PER_CALL = 8  # so that a call stays below the gas that nodes allow


@dataclass(frozen=True)
class Probe:
    """A holder of a token that is made to send some of it away and get it back."""

    token: str
    holder: str
    max_amount: int
    is_pool: bool  # whether the holder is a pool of the token's route; otherwise it is the user

    @property
    def peer(self) -> str:
        """The address to send to, which holds nothing; tokens that limit transfers per address see each one once."""
        return to_checksum_address(keccak_hex(b"sweepapi transfer probe" + bytes.fromhex(self.holder[2:]))[:42])


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


def grouped(probes: Sequence[Probe]) -> Iterator[list[Probe]]:
    """Yield the probes in groups of one token that fit into a call, so that no token can fail the others'."""
    for _, group in groupby(sorted(probes, key=lambda probe: probe.token), key=lambda probe: probe.token):
        its = list(group)
        for start in range(0, len(its), PROBES_PER_CALL):
            yield its[start : start + PROBES_PER_CALL]


def transfer_probes(probes: Sequence[Probe], *, multicall3: str) -> Call:
    """Return the call in which each holder sends up to its amount and gets it back.

    Its result has for each a ``TransferTest``, or None if the token refused.
    """
    call = multicall(
        multicall3=multicall3,
        reads=[Read(probe.holder, PROBE, (probe.token, probe.max_amount, probe.peer)) for probe in probes],
        error_policy=ErrorPolicy.EXECUTION,
        gas=GAS_LIMIT * len(probes),
        overrides={address: {"code": _runtime_code()} for probe in probes for address in (probe.holder, probe.peer)},
    )

    def decode(value: object) -> list[TransferTest | None]:
        return [None if values is None else TransferTest(*values) for values in call.decode(value)]

    return Call(call.method, call.params, decode, ErrorPolicy.EXECUTION)
