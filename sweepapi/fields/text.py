"""Networks, addresses and hashes, stored in one canonical form so that equal values are equal text.

EVM text is hexadecimal and comes in any case; base58, as on Solana, has only one spelling and is kept as it is.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Combinable
from solders.pubkey import Pubkey
from solders.signature import Signature

from sweepapi.evm.encoding.addresses import eip55

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_HASH32 = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_NETWORK = re.compile(rf"eip155:[1-9][0-9]{{0,31}}|solana:{_BASE58}{{32}}", re.ASCII)

_ST_contra = TypeVar("_ST_contra", contravariant=True)
_GT_co = TypeVar("_GT_co", covariant=True)

if TYPE_CHECKING:

    class _CharField(models.CharField[_ST_contra, _GT_co]): ...

else:
    # The stubs' field is generic and Django's is not; subscripting it has to be harmless at run time.
    class _CharField(models.CharField):
        def __class_getitem__(cls, _types: object) -> type:
            return cls


class BadChecksumError(ValueError):
    """A mixed-case address whose casing is not its EIP-55 checksum."""


def checksum_address(text: str) -> str:
    """Return the EIP-55 form of an EVM address written in lower, upper or correctly mixed case.

    Raises BadChecksumError for wrong mixed casing and ValueError for anything that is not an address.
    """
    if not _ADDRESS.fullmatch(text):
        raise ValueError("An address is 0x and 40 hex digits.")
    checksummed: str = eip55(text.lower())
    digits = text[2:]
    if text != checksummed and digits not in (digits.lower(), digits.upper()):
        raise BadChecksumError("The casing of this address is not its EIP-55 checksum.")
    return checksummed


def normal_hash(text: str) -> str:
    """Return a 32-byte hash, given as 0x and 64 hex digits of any case, in lower case; ValueError otherwise."""
    if not _HASH32.fullmatch(text):
        raise ValueError("A hash is 0x and 64 hex digits.")
    return text.lower()


def _network(text: str) -> str:
    if not _NETWORK.fullmatch(text):
        raise ValueError("A network is a CAIP-2 identifier of the namespace eip155 or solana.")
    return text


def _account_address(text: str) -> str:
    if text.startswith("0x"):
        return checksum_address(text)
    try:
        return str(Pubkey.from_string(text))
    except ValueError as error:
        raise ValueError("An address is 0x and 40 hex digits, or 32 bytes in base58.") from error


def _transaction_hash(text: str) -> str:
    if text.startswith("0x"):
        return normal_hash(text)
    try:
        return str(Signature.from_string(text))
    except ValueError as error:
        raise ValueError("A transaction hash is 0x and 64 hex digits, or 64 bytes in base58.") from error


class _CanonicalTextField(_CharField[_ST_contra, _GT_co]):
    """Text with one canonical form, which it takes before it is validated, filtered by or saved.

    Filters take it through ``to_python``, which ``CharField`` calls for them.
    """

    _pyi_private_set_type: str | Combinable
    _pyi_private_get_type: str

    length: int  # of the longest text
    pattern: str
    # The same for PostgreSQL. Counting in a pattern takes it ten times as long, and it checks each update of a row.
    condition: str
    canonical: Callable[[str], str]  # raises ValueError

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_length"] = self.length
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, _, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, f"sweepapi.fields.{type(self).__name__}", args, kwargs  # a path that outlives this file

    def db_check(self, connection: BaseDatabaseWrapper) -> str:
        return self.condition.format(connection.ops.quote_name(str(self.column)))

    def to_python(self, value: object) -> str | None:
        text: str | None = super().to_python(value)
        if text is None or text == "":
            return text
        try:
            return self.canonical(text)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid") from error

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: FBT001 Django passes it by position
        """Leave on the instance what the row will hold."""
        value = super().pre_save(model_instance, add)
        if isinstance(value, str):
            value = self.canonical(value)
            setattr(model_instance, self.attname, value)
        return value


class AddressField(_CanonicalTextField[_ST_contra, _GT_co]):
    """An EVM address, stored in its EIP-55 form; accepts any valid casing."""

    description = "EVM address"
    length = 42
    pattern = "0x[0-9a-fA-F]{40}"
    condition = "length({0}) = 42 AND {0} ~ '^0x[0-9a-fA-F]*$'"
    canonical = staticmethod(checksum_address)


class Hash32Field(_CanonicalTextField[_ST_contra, _GT_co]):
    """32 bytes as 0x and 64 hex digits, stored in lower case."""

    description = "32-byte hash"
    length = 66
    pattern = "0x[0-9a-f]{64}"
    condition = "length({0}) = 66 AND {0} ~ '^0x[0-9a-f]*$'"
    canonical = staticmethod(normal_hash)


class NetworkField(_CanonicalTextField[_ST_contra, _GT_co]):
    """A network by its CAIP-2 identifier, such as ``eip155:8453``."""

    description = "CAIP-2 network"
    length = 41
    pattern = _NETWORK.pattern
    condition = (
        "length({0}) <= 39 AND {0} ~ '^eip155:[1-9][0-9]*$'"
        f" OR length({{0}}) = 39 AND {{0}} ~ '^solana:{_BASE58}*$'"
    )
    canonical = staticmethod(_network)


class AccountAddressField(_CanonicalTextField[_ST_contra, _GT_co]):
    """An address, or an asset, on a network of any family."""

    description = "Address"
    length = 44
    pattern = f"0x[0-9a-fA-F]{{40}}|{_BASE58}{{32,44}}"
    condition = f"{AddressField.condition} OR length({{0}}) BETWEEN 32 AND 44 AND {{0}} ~ '^{_BASE58}*$'"
    canonical = staticmethod(_account_address)


class TransactionHashField(_CanonicalTextField[_ST_contra, _GT_co]):
    """The hash, or the first signature, that names a transaction on a network of any family."""

    description = "Transaction hash"
    length = 88
    pattern = f"0x[0-9a-f]{{64}}|{_BASE58}{{64,88}}"
    condition = f"{Hash32Field.condition} OR length({{0}}) BETWEEN 64 AND 88 AND {{0}} ~ '^{_BASE58}*$'"
    canonical = staticmethod(_transaction_hash)
