"""What both batch contracts inherit from ``SweepBatch``: legs, limits, and the user's permission at Permit2."""

from dataclasses import dataclass

from sweepapi.evm.abi import Function

HARD_CAP_BPS = 300
MAX_LEGS = 30
FUNDING_APPROVED, FUNDING_PREFUNDED, FUNDING_NONE = 0, 1, 2
SIGNATURE_BYTES = 65

LEG_TYPE = "(address,uint256,address,uint8,bytes)"
PAUSED = Function("paused()", "(bool)")


@dataclass(frozen=True)
class Leg:
    """One token of a sweep: how it is funded, and the router call that swaps it."""

    token: str
    amount: int
    router: str
    funding: int
    data: bytes

    def as_tuple(self) -> tuple[str, int, str, int, bytes]:
        """Return the leg as the ABI encodes it."""
        return (self.token, self.amount, self.router, self.funding, self.data)


@dataclass(frozen=True)
class Permission:
    """The user's part of the call: the Permit2 nonce, its deadline and the signature over both."""

    nonce: int
    deadline: int
    signature: bytes = bytes(SIGNATURE_BYTES)  # the placeholder of a template


def signature_offset(calldata: bytes) -> int:
    """Return where the bytes of the last argument begin: 65 bytes, padded to three words at the end of the call."""
    return len(calldata) - 96
