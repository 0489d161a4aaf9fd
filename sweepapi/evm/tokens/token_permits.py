"""Allowances by signature: which tokens take them (EIP-2612, or DAI's older kind), and the typed data that users sign.

A token is believed only if a domain of its name, a version, the chain and its address hashes to the separator that it
reports. A wrong belief costs a signature: the contract ignores a permit that fails, and Permit2's transfer fails then.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.eip712 import TypedData, fields
from sweepapi.evm.tokens.erc20 import MAX_NAME_CHARACTERS, NAME, UNLIMITED
from sweepapi.text import clean

DOMAIN_SEPARATOR = Function("DOMAIN_SEPARATOR()", "(bytes32)")
NONCES = Function("nonces(address)", "(uint256)")
PERMIT_TYPEHASH = Function("PERMIT_TYPEHASH()", "(bytes32)")
VERSION = Function("version()", "(string)")
EIP712_DOMAIN = Function("eip712Domain()", "(bytes1,string,string,uint256,address,bytes32,uint256[])")

USUAL_VERSIONS = ("1", "2")
_NAME_VERSION_CHAIN_CONTRACT = b"\x0f"  # of EIP-5267: the domain has these fields
_DOMAIN_TYPEHASH = keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")


class PermitKind(Enum):
    """The two kinds of permits, by the fields that are signed."""

    EIP2612 = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    DAI = "Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)"


@dataclass(frozen=True)
class PermitGrant:
    """The allowance that a permit is to give, and until when it may be used, in seconds since 1970."""

    chain_id: int
    token: str
    owner: str
    spender: str
    value: int
    deadline: int


@dataclass(frozen=True)
class TokenPermits:
    """How a token takes permits, and the owner's next nonce."""

    kind: PermitKind
    name: str
    version: str
    nonce: int

    def can_give(self, value: int) -> bool:
        """Whether a permit can set the allowance to this value: DAI's can't limit it."""
        return self.kind is PermitKind.EIP2612 or value == UNLIMITED

    def typed_data(self, grant: PermitGrant) -> TypedData:
        """Return what the owner signs."""
        is_dai = self.kind is PermitKind.DAI
        return TypedData(
            domain={
                "name": self.name,
                "version": self.version,
                "chainId": grant.chain_id,
                "verifyingContract": grant.token,
            },
            types={"Permit": _DAI_FIELDS if is_dai else _EIP2612_FIELDS},
            primary_type="Permit",
            message=self._dai_message(grant) if is_dai else self._eip2612_message(grant),
        )

    def _eip2612_message(self, grant: PermitGrant) -> dict[str, Any]:
        return {
            "owner": grant.owner,
            "spender": grant.spender,
            "value": grant.value,
            "nonce": self.nonce,
            "deadline": grant.deadline,
        }

    def _dai_message(self, grant: PermitGrant) -> dict[str, Any]:
        return {
            "holder": grant.owner,
            "spender": grant.spender,
            "nonce": self.nonce,
            "expiry": grant.deadline,
            "allowed": True,
        }


_EIP2612_FIELDS = fields(owner="address", spender="address", value="uint256", nonce="uint256", deadline="uint256")
_DAI_FIELDS = fields(holder="address", spender="address", nonce="uint256", expiry="uint256", allowed="bool")


def permit_reads(*, token: str, owner: str) -> list[Read]:
    """Return the reads whose results ``token_permits`` takes."""
    plain = [DOMAIN_SEPARATOR, PERMIT_TYPEHASH, EIP712_DOMAIN, NAME, VERSION]
    return [Read(token, NONCES, (owner,)), *(Read(token, function) for function in plain)]


def token_permits(results: list[Any], *, token: str, chain_id: int) -> TokenPermits | None:
    """Return how the token takes permits, from the results of the reads; None if it is not certain that it does."""
    nonce, separator, typehash, *described = results
    kind = _kind(typehash)
    if nonce is None or separator is None or kind is None:
        return None
    for name, version in dict.fromkeys(_domains(*described)):
        if _separator(name, version, chain_id=chain_id, token=token) == separator[0]:
            # Wallets show both to the user who signs; a text that can't be shown as it is hides what is signed.
            is_clean = all(text == clean(text, MAX_NAME_CHARACTERS) for text in (name, version))
            return TokenPermits(kind, name, version, nonce[0]) if is_clean else None
    return None


def _kind(typehash: tuple[bytes] | None) -> PermitKind | None:
    """Return the kind with this type hash; most tokens with EIP-2612 don't publish theirs, all of DAI's kind do."""
    if typehash is None:
        return PermitKind.EIP2612
    return next((kind for kind in PermitKind if keccak(text=kind.value) == typehash[0]), None)


def _domains(described: Any, name: Any, version: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - decoded reads
    """Yield the names and versions to try, those that the token reports first."""
    if described is not None and described[0] == _NAME_VERSION_CHAIN_CONTRACT:
        yield described[1], described[2]
    if name is not None:
        for known in ([version[0]] if version is not None else []) + list(USUAL_VERSIONS):
            yield name[0], known


def _separator(name: str, version: str, *, chain_id: int, token: str) -> bytes:
    hashed = [_DOMAIN_TYPEHASH, keccak(text=name), keccak(text=version)]
    return keccak(encode(["bytes32", "bytes32", "bytes32", "uint256", "address"], [*hashed, chain_id, token]))
