"""256-bit amounts, exact in both directions.

Django has no type that holds a uint256 exactly: its integers end at 64 bits and its decimals round in Python.
"""

import re
from typing import TYPE_CHECKING, Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Combinable, register_combinable_fields

UINT256_MAX = 2**256 - 1

_INTEGER = re.compile(r"-?[0-9]{1,78}", re.ASCII)

_ST_contra = TypeVar("_ST_contra", contravariant=True)
_GT_co = TypeVar("_GT_co", covariant=True)

if TYPE_CHECKING:

    class _Field(models.Field[_ST_contra, _GT_co]): ...

else:
    # The stubs' field is generic and Django's is not; subscripting it has to be harmless at run time.
    class _Field(models.Field):
        def __class_getitem__(cls, _types: object) -> type:
            return cls


class _WideIntegerField(_Field[_ST_contra, _GT_co]):
    """A Python int in a numeric(78,0) column: exact in both directions, never a Decimal or float."""

    _pyi_private_set_type: int | Combinable
    _pyi_private_get_type: int

    empty_strings_allowed = False
    lowest: int
    highest = UINT256_MAX

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, _, args, kwargs = super().deconstruct()
        return name, f"sweepapi.fields.{type(self).__name__}", args, kwargs  # a path that outlives this file

    def db_type(self, connection: BaseDatabaseWrapper) -> str:  # noqa: ARG002 PostgreSQL is the only engine
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
