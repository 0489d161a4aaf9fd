"""The operations that wait for their delay on an access manager: decoded, and compared with the changes we announced.

Anyone who holds a role can schedule. So an operation is expected only if a signed file announced it, and all else
is one that the guardian may have to cancel before its delay is over.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.abi import abi_to_signature
from eth_utils.address import is_hex_address, to_checksum_address
from eth_utils.crypto import keccak

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.differences import display
from sweepapi.evm.deployment.specification import BATCHES
from sweepapi.evm.encoding.abi import Values, exported_abi
from sweepapi.rpc.errors import BadResponseError

# The access manager's own functions, which take effect after the admin's delay.
_OF_THE_MANAGER = (
    "grantRole(uint64,address,uint32)",
    "revokeRole(uint64,address)",
    "labelRole(uint64,string)",
    "setRoleAdmin(uint64,uint64)",
    "setRoleGuardian(uint64,uint64)",
    "setGrantDelay(uint64,uint32)",
    "setTargetFunctionRole(address,bytes4[],uint64)",
    "setTargetAdminDelay(address,uint32)",
    "setTargetClosed(address,bool)",
    "updateAuthority(address,address)",
)


@dataclass(frozen=True)
class ScheduledCall:
    """What will be called; the three together identify it, as cancelling needs them."""

    caller: str
    target: str
    data: bytes

    def __str__(self) -> str:
        return f"{self.caller} calls {self.target} with 0x{self.data.hex()}"

    @property
    def meaning(self) -> str:
        """The call as a function of ours with its arguments; says so if it is none."""
        signature = _signatures().get(self.data[:4])
        if signature is None:
            return "a function that is not ours"
        try:
            arguments = Values(signature[signature.index("(") :]).decode(self.data[4:])
        except BadResponseError:
            return f"{signature} with arguments that are not of these types"
        return f"{signature.partition('(')[0]}({', '.join(_shown(one) for one in arguments)})"


@dataclass(frozen=True)
class ScheduledOperation:
    """A call that waits for its delay."""

    call: ScheduledCall
    executable_from: int  # seconds since 1970

    def __str__(self) -> str:
        return f"{self.call}, from {self.executable_from} on: {self.call.meaning}"


@dataclass(frozen=True)
class AnnouncedChange:
    """An operation that we mean to schedule, with the signature of someone whom the chains file names."""

    call: ScheduledCall
    network: str
    note: str
    signature: str

    @property
    def message(self) -> str:
        """The text that is signed, as ``personal_sign`` takes it."""
        return (
            f"A change of SweepAPI's contracts\nnetwork: {self.network}\ncaller: {self.call.caller}\n"
            f"target: {self.call.target}\ndata: 0x{self.call.data.hex()}\nnote: {self.note}"
        )

    def as_json(self) -> dict[str, str]:
        """Return the change as the file has it."""
        call = {"caller": self.call.caller, "target": self.call.target, "data": f"0x{self.call.data.hex()}"}
        return {"network": self.network, **call, "note": self.note, "signature": self.signature}

    @property
    def signer(self) -> str:
        """The address that signed it; raises ``SpecificationError`` if no one can have."""
        try:
            signer: str = Account.recover_message(encode_defunct(text=self.message), signature=self.signature)
        except (ValueError, TypeError) as error:
            raise SpecificationError(f"the signature of the change {self.note!r} is malformed: {error}") from error
        return signer


def announced_calls(path: Path, chain: Chain) -> frozenset[ScheduledCall]:
    """Return what was announced for a chain; there may be no file yet.

    Raises ``SpecificationError`` if the file is malformed, or one of the chain's changes was signed by anyone but the
    ``change_signers`` of its table.
    """
    if not path.is_file():
        return frozenset()
    ours = [change for change in _changes(path) if change.network == chain.network]
    for change in ours:
        if change.signer not in chain.change_signers:
            raise SpecificationError(f"the change {change.note!r} is signed by {change.signer}, who may announce none")
    return frozenset(change.call for change in ours)


def _changes(path: Path) -> Iterator[AnnouncedChange]:
    try:
        for entry in json.loads(path.read_text(encoding="utf-8")):
            call = ScheduledCall(
                to_checksum_address(entry["caller"]),
                to_checksum_address(entry["target"]),
                bytes.fromhex(entry["data"].removeprefix("0x")),
            )
            yield AnnouncedChange(call, entry["network"], entry["note"], entry["signature"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SpecificationError(f"{path.name} is not a list of changes: {error!r}") from error


@cache
def _signatures() -> Mapping[bytes, str]:
    """Return the signatures of all functions that the manager can call, by selector."""
    ours = (
        abi_to_signature(entry)
        for contract in BATCHES
        for entry in exported_abi(contract)
        if entry["type"] == "function"
    )
    return {keccak(text=signature)[:4]: signature for signature in (*ours, *_OF_THE_MANAGER)}


def _shown(value: Any) -> str:  # noqa: ANN401 - as the ABI decodes it
    if isinstance(value, tuple | list):
        return f"({', '.join(_shown(one) for one in value)})"
    return to_checksum_address(value) if isinstance(value, str) and is_hex_address(value) else display(value)
