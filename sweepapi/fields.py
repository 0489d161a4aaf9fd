"""Model fields for what chains speak of: addresses, hashes and 256-bit amounts, each also guarded by the database.

Django has no type that holds a uint256 exactly: its integers end at 64 bits and its decimals round in Python.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Combinable, register_combinable_fields
from eth_utils.address import to_checksum_address

UINT256_MAX = 2**256 - 1

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_HASH32 = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,78}", re.ASCII)

_ST_contra = TypeVar("_ST_contra", contravariant=True)
_GT_co = TypeVar("_GT_co", covariant=True)

if TYPE_CHECKING:

    class _CharField(models.CharField[_ST_contra, _GT_co]): ...

    class _Field(models.Field[_ST_contra, _GT_co]): ...

else:
    # The stubs' fields are generic and Django's are not; subscripting one has to be harmless at run time.
    class _CharField(models.CharField):
        def __class_getitem__(cls, _types: object) -> type:
            return cls

    class _Field(models.Field):
        def __class_getitem__(cls, _types: object) -> type:
            return cls


class BadChecksumError(ValueError):
    """A mixed-case address whose casing is not its EIP-55 checksum."""


def checksum_address(text: str) -> str:
    """Return the EIP-55 form of an address written in lower, upper or correctly mixed case.

    Raises BadChecksumError for wrong mixed casing and ValueError for anything that is no address.
    """
    if not _ADDRESS.fullmatch(text):
        raise ValueError("An address is 0x and 40 hex digits.")
    checksummed: str = to_checksum_address(text.lower())
    digits = text[2:]
    if text != checksummed and digits not in (digits.lower(), digits.upper()):
        raise BadChecksumError("The casing of this address is not its EIP-55 checksum.")
    return checksummed


def normal_hash(text: str) -> str:
    """Return a 32-byte hash, given as 0x and 64 hex digits of any case, in lower case; ValueError otherwise."""
    if not _HASH32.fullmatch(text):
        raise ValueError("A hash is 0x and 64 hex digits.")
    return text.lower()


class _HexField(_CharField[_ST_contra, _GT_co]):
    """Text of one fixed hexadecimal form, normalised on its way in."""

    length: int
    pattern: str
    normal: Callable[[str], str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_length"] = self.length
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, path, args, kwargs

    def db_check(self, connection: BaseDatabaseWrapper) -> str:
        return f"{connection.ops.quote_name(str(self.column))} ~ '{self.pattern}'"

    def to_python(self, value: object) -> str | None:
        text: str | None = super().to_python(value)
        if text is None or text == "":
            return text
        try:
            return self.normal(text)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid") from error

    def get_prep_value(self, value: object) -> str | None:
        text = super().get_prep_value(value)
        return text if text is None else self.normal(text)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: FBT001 Django passes it by position
        """Leave on the instance what the row will hold."""
        value = super().pre_save(model_instance, add)
        if isinstance(value, str):
            value = self.normal(value)
            setattr(model_instance, self.attname, value)
        return value


class AddressField(_HexField[_ST_contra, _GT_co]):
    """An EVM address, stored in its EIP-55 form; accepts any valid casing."""

    _pyi_private_set_type: str | Combinable
    _pyi_private_get_type: str

    description = "EVM address"
    length = 42
    pattern = "^0x[0-9a-fA-F]{40}$"
    normal = staticmethod(checksum_address)


class Hash32Field(_HexField[_ST_contra, _GT_co]):
    """32 bytes as 0x and 64 hex digits, stored in lower case."""

    _pyi_private_set_type: str | Combinable
    _pyi_private_get_type: str

    description = "32-byte hash"
    length = 66
    pattern = "^0x[0-9a-f]{64}$"
    normal = staticmethod(normal_hash)


class _WideIntegerField(_Field[_ST_contra, _GT_co]):
    """A Python int in a numeric(78,0) column: exact in both directions, never a Decimal or float."""

    _pyi_private_set_type: int | Combinable
    _pyi_private_get_type: int

    empty_strings_allowed = False
    lowest: int
    highest = UINT256_MAX

    def db_type(self, connection: BaseDatabaseWrapper) -> str:  # noqa: ARG002 one engine, one type
        return "numeric(78, 0)"

    def db_check(self, connection: BaseDatabaseWrapper) -> str:
        """Bound the column. PostgreSQL's numeric NaN exceeds every number, so the upper bound refuses it too."""
        column = connection.ops.quote_name(str(self.column))
        return f"{column} >= {self.lowest} AND {column} <= {self.highest}"

    def from_db_value(self, value: object, _expression: object, _connection: object) -> int | None:
        return None if value is None else int(value)  # type: ignore[call-overload]

    def to_python(self, value: object) -> int | None:
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            return int(value)
        raise ValidationError("Enter a whole number of the token's smallest unit.", code="invalid")

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        if value is not None and not self.lowest <= value <= self.highest:
            raise ValidationError("This number does not fit the field.", code="out_of_range")

    def get_prep_value(self, value: object) -> Any:
        prepared = super().get_prep_value(value)
        if prepared is None or hasattr(prepared, "resolve_expression"):
            return prepared
        if isinstance(prepared, bool) or not isinstance(prepared, int):
            raise TypeError(f"{self.name} holds Python ints only, not {type(prepared).__name__}.")
        return prepared

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))

    def formfield(self, **kwargs: Any) -> Any:
        """Use a text input: a number input would pass through the browser's floating point."""
        return super().formfield(**{"form_class": forms.CharField, **kwargs})


class Uint256Field(_WideIntegerField[_ST_contra, _GT_co]):
    """An unsigned 256-bit integer, such as an amount in a token's smallest unit or a nonce."""

    description = "Unsigned 256-bit integer"
    lowest = 0


class SignedAmountField(_WideIntegerField[_ST_contra, _GT_co]):
    """An amount in a token's smallest unit with a sign; its size fits 256 bits."""

    description = "Signed amount"
    lowest = -UINT256_MAX


def _register_arithmetic() -> None:
    """Teach F() expressions that sums and differences of amounts are amounts again, possibly negative ones."""
    amounts = (Uint256Field, SignedAmountField)
    pairs = [(left, right) for left in amounts for right in amounts]
    pairs += [(amount, models.IntegerField) for amount in amounts]  # type: ignore[misc]
    pairs += [(models.IntegerField, amount) for amount in amounts]  # type: ignore[misc]
    for left, right in pairs:
        for connector in (Combinable.ADD, Combinable.SUB):
            register_combinable_fields(left, connector, right, SignedAmountField)


_register_arithmetic()
