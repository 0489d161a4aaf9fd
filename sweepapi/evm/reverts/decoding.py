"""Decoding what a reverted call returned, from our contracts' errors down to those of pools, routers, tokens, Permit2.

They all return whatever bytes they like, our own errors included. So a reason is a hint for people: its text is
cleaned, its depth is bounded, and nothing is decided by it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak
from eth_utils.hexadecimal import encode_hex

from sweepapi.evm.encoding.abi import error_abi
from sweepapi.evm.encoding.addresses import eip55

CONTRACTS = ("ServiceBatchV5PartnerFees", "ServiceBatchV4")
# Sources: the Solidity documentation ("Panic via assert and Error via require"), Uniswap/permit2 ``PermitErrors``,
# ``SignatureVerification`` and ``ISignatureTransfer``, ERC-6093. Uniswap's V2 and V3 routers and pools use ``Error``.
OTHER_ERRORS = (
    "Error(string message)",
    "Panic(uint256 code)",
    "InvalidAmount(uint256 maxAmount)",
    "InvalidContractSignature()",
    "InvalidNonce()",
    "InvalidSignature()",
    "InvalidSignatureLength()",
    "InvalidSigner()",
    "LengthMismatch()",
    "SignatureExpired(uint256 signatureDeadline)",
    "ERC20InsufficientAllowance(address spender,uint256 allowance,uint256 needed)",
    "ERC20InsufficientBalance(address sender,uint256 balance,uint256 needed)",
    "ERC20InvalidApprover(address approver)",
    "ERC20InvalidReceiver(address receiver)",
    "ERC20InvalidSender(address sender)",
    "ERC20InvalidSpender(address spender)",
)
SELECTOR_BYTES = 4
MAX_DEPTH = 4
MAX_TEXT_CHARACTERS = 120


@dataclass(frozen=True)
class RevertReason:
    """One error, and the error that caused it."""

    name: str  # the selector as hex for an unknown error, empty if nothing was returned
    arguments: Mapping[str, str] = field(default_factory=dict)  # by name; text of other contracts is printable ASCII
    leg_index: int | None = None  # set only for errors of our contracts that name a leg; of the last hop their number
    cause: "RevertReason | None" = None  # what the pool or router of a failed leg, or a failed transfer, returned


@dataclass(frozen=True)
class _ErrorType:
    name: str
    fields: tuple[tuple[str, str], ...]  # type and name

    @property
    def selector(self) -> bytes:
        return keccak(text=f"{self.name}({','.join(kind for kind, _ in self.fields)})")[:SELECTOR_BYTES]

    def decode(self, data: bytes) -> dict[str, object]:
        """Return the arguments by name; text as bytes, which need not be valid UTF-8."""
        types = ["bytes" if kind == "string" else kind for kind, _ in self.fields]
        return dict(zip((name for _, name in self.fields), decode(types, data, strict=False), strict=True))


def decode_revert(data: bytes, *, depth: int = 1) -> RevertReason:
    """Return what the returned bytes say; causes more than ``MAX_DEPTH`` deep are left out."""
    error = _known_errors().get(data[:SELECTOR_BYTES])
    unknown = RevertReason(encode_hex(data[:SELECTOR_BYTES]) if data else "")
    if error is None:
        return unknown
    try:
        values = error.decode(data[SELECTOR_BYTES:])
    except (DecodingError, OverflowError):
        return unknown
    cause = values.pop("reason", None)  # only LegFailed and PullFailed have one
    index = values.get("leg")
    return RevertReason(
        name=error.name,
        arguments={name: _text(kind, values[name]) for kind, name in error.fields if name in values},
        leg_index=index if isinstance(index, int) else None,
        cause=decode_revert(cause, depth=depth + 1) if isinstance(cause, bytes) and depth < MAX_DEPTH else None,
    )


def _text(kind: str, value: object) -> str:
    if kind == "address":
        return eip55(str(value))
    if not isinstance(value, bytes):
        return str(value)
    if kind != "string":
        return encode_hex(value)
    return "".join(chr(byte) for byte in value[:MAX_TEXT_CHARACTERS] if chr(byte).isascii() and chr(byte).isprintable())


@cache
def _known_errors() -> Mapping[bytes, _ErrorType]:
    """Return every known error by its selector."""
    return {error.selector: error for error in (*_exported_errors(), *map(_parsed, OTHER_ERRORS))}


def _exported_errors() -> Iterator[_ErrorType]:
    for contract in CONTRACTS:
        for entry in error_abi(contract):
            fields = ((collapse_if_tuple(field), field["name"]) for field in entry["inputs"])
            yield _ErrorType(entry["name"], tuple(fields))


def _parsed(signature: str) -> _ErrorType:
    name, _, listed = signature.removesuffix(")").partition("(")
    kinds_and_names = (declared.split() for declared in listed.split(",") if declared)
    return _ErrorType(name, tuple((kind, argument) for kind, argument in kinds_and_names))
