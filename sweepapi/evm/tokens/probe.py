"""Finding out whether a token can be transferred, and whether it keeps a part, without a signature or a transaction.

An ``eth_call`` with a state override lets holders of the token (pools and the user), and an empty address for each,
delegate to the code of ``TransferProbe``; the holder sends some of the token there and gets it back. A tax on buying or
on selling shows as a difference. It may depend on the amount, so parts of the amount are sent as well. Only the code of
these addresses is overridden.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.encoding.abi import Function, exported_code
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.rpc import Call, ErrorPolicy

PROBE = Function("probe(address,uint256,address)", "(uint256,uint256,uint256,bool)")
# Enough for six transfers of an expensive token, too little for one that tries to occupy the node.
GAS_LIMIT = 3_000_000
PROBES_PER_CALL = 8  # so that a call stays below the gas that nodes allow
# Where the probe code is; holders have the short code of EIP-1167 that delegates to it, as a request has many holders.
CODE_ADDRESS = keccak_hex(b"sweepapi transfer probe")[:42]
PEER_BITS = int(keccak_hex(b"sweepapi transfer peer")[:42], 16)  # in which each peer differs from its holder
DELEGATES = f"0x363d3d373d3d3d363d73{CODE_ADDRESS[2:]}5af43d82803e903d91602b57fd5bf3"


@dataclass(frozen=True)
class Probe:
    """A holder of a token that is made to send some of it away and get it back."""

    token: str
    holder: str
    max_amount: int
    is_pool: bool  # whether the holder is a pool of the token's route; otherwise it is the user
    recipient: str | None = None  # None for an address that holds nothing

    @property
    def peer(self) -> str:
        """The address to send to; tokens that limit transfers per address see each empty one once."""
        return self.recipient or f"0x{int(self.holder, 16) ^ PEER_BITS:040x}"


@dataclass(frozen=True)
class TransferTest:
    """What a probe measured; amounts in the token's smallest unit."""

    sent: int
    received: int
    received_back: int
    parts_arrive: bool = True  # a third and a hundredth of the amount, in full

    @property
    def taxed(self) -> bool:
        """Whether a transfer delivered a different amount than was sent."""
        return self.received != self.sent or self.received_back != self.sent or not self.parts_arrive


def grouped(probes: Sequence[Probe]) -> Iterator[list[Probe]]:
    """Yield the probes in groups of one token that fit into a call, so that no token can fail the others'."""
    for _, group in groupby(sorted(probes, key=lambda probe: probe.token), key=lambda probe: probe.token):
        own = list(group)
        for start in range(0, len(own), PROBES_PER_CALL):
            yield own[start : start + PROBES_PER_CALL]


def transfer_probes(probes: Sequence[Probe], *, multicall3: str) -> Call:
    """Return the call in which each holder sends up to its amount and gets it back.

    Its result has for each a ``TransferTest``, or None if the token refused.
    """
    call = multicall(
        multicall3=multicall3,
        reads=[Read(probe.holder, PROBE, (probe.token, probe.max_amount, probe.peer)) for probe in probes],
        error_policy=ErrorPolicy.EXECUTION,
        gas=GAS_LIMIT * len(probes),
        overrides={
            CODE_ADDRESS: {"code": exported_code("TransferProbe")},
            **{address: {"code": DELEGATES} for probe in probes for address in (probe.holder, probe.peer)},
        },
    )

    def decode(value: object) -> list[TransferTest | None]:
        return [None if values is None else TransferTest(*values) for values in call.decode(value)]

    return Call(call.method, call.params, decode, ErrorPolicy.EXECUTION)
