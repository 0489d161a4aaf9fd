"""EIP-712 messages: their digests, and the JSON that wallets sign.

A message has Python ints; ``for_wallets`` writes them as strings, because JavaScript would round them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak
from eth_utils.hexadecimal import encode_hex

DOMAIN_FIELDS = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}


@dataclass(frozen=True)
class TypedData:
    """An EIP-712 message with its domain and types."""

    domain: dict[str, Any]
    types: dict[str, list[dict[str, str]]]
    primary_type: str
    message: dict[str, Any]

    @property
    def digest(self) -> str:
        """The 32 bytes that are signed, as hex."""
        return encode_hex(keccak(self.preimage))

    @cached_property
    def preimage(self) -> bytes:
        """The bytes whose Keccak-256 hash is the digest."""
        signable = encode_typed_data(full_message=self.signable())
        return b"\x19" + signable.version + signable.header + signable.body

    def signable(self) -> dict[str, Any]:
        """Return the message as eth-account signs it."""
        return self._full(self.message)

    def for_wallets(self) -> dict[str, Any]:
        """Return the message as ``eth_signTypedData_v4`` takes it."""
        return self._full(_numbers_as_strings(self.message))

    def _full(self, message: dict[str, Any]) -> dict[str, Any]:
        domain_type = [{"name": name, "type": kind} for name, kind in DOMAIN_FIELDS.items() if name in self.domain]
        return {
            "domain": self.domain,
            "types": {"EIP712Domain": domain_type, **self.types},
            "primaryType": self.primary_type,
            "message": message,
        }


def domain_separator(**domain: Any) -> bytes:  # noqa: ANN401 - the fields of a domain under their EIP-712 names
    """Return the hash that binds every signature in a domain to it."""
    message = TypedData(domain=domain, types={"Nothing": []}, primary_type="Nothing", message={})
    return bytes(encode_typed_data(full_message=message.signable()).header)


def fields(**types: str) -> list[dict[str, str]]:
    """Return an EIP-712 struct definition from names and types, in order."""
    return [{"name": name, "type": kind} for name, kind in types.items()]


def _numbers_as_strings(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, dict):
        return {key: _numbers_as_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers_as_strings(item) for item in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
