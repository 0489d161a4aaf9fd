"""Validates the parameters of JSON-RPC methods, which a node answers with error -32602 if they are wrong.

Unlike a real node it also refuses unknown fields, because there a misspelt option is silently without effect.
"""

import base64
import binascii
from typing import Any, TypeVar

from solders.pubkey import Pubkey
from solders.signature import Signature

from dev.solana.errors import InvalidParamsError, InvalidRequestError

COMMITMENTS = ("processed", "confirmed", "finalized")
_MAX_INTEGER = 2**64 - 1
_Kind = TypeVar("_Kind")


class Params:
    """The positional parameters of one call."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, list):
            raise InvalidParamsError("`params` should be an array")
        self._values = values

    def text(self, index: int) -> str:
        return _expect(self._at(index), str, "string")

    def integer(self, index: int) -> int:
        return _integer(self._at(index), f"parameter {index}")

    def key(self, index: int) -> Pubkey:
        return public_key(self.text(index))

    def signature(self, index: int) -> Signature:
        return signature(self.text(index))

    def texts(self, index: int, *, at_most: int) -> list[str]:
        """Return a list of strings."""
        values = _expect(self._at(index), list, "array")
        if len(values) > at_most:
            raise InvalidParamsError(f"Too many inputs provided; max {at_most}")
        return [_expect(value, str, "string") for value in values]

    def keys(self, index: int, *, at_most: int) -> list[Pubkey]:
        return [public_key(text) for text in self.texts(index, at_most=at_most)]

    def record(self, index: int) -> dict[str, Any]:
        """Return a required object."""
        return _expect(self._at(index), dict, "object")

    def has(self, index: int) -> bool:
        return len(self._values) > index and self._values[index] is not None

    def config(self, index: int, *names: str) -> "Config":
        """Return the last parameter, an optional object with only these fields."""
        if len(self._values) > index + 1:
            raise InvalidParamsError(f"Too many parameters: expected at most {index + 1}")
        return Config(self.record(index) if self.has(index) else {}, names)

    def _at(self, index: int) -> object:
        if len(self._values) <= index:
            raise InvalidParamsError(f"Missing parameter {index}")
        return self._values[index]


class Config:
    """The options of one call."""

    def __init__(self, fields: dict[str, Any], names: tuple[str, ...]) -> None:
        unknown = fields.keys() - set(names)
        if unknown:
            raise InvalidParamsError(f"unknown field `{min(unknown)}`")
        self._fields = {name: value for name, value in fields.items() if value is not None}

    @property
    def commitment(self) -> str:
        commitment = self._fields.get("commitment", "finalized")
        if commitment not in COMMITMENTS:
            raise InvalidParamsError(f"unknown variant `{commitment}`, expected one of {COMMITMENTS}")
        return str(commitment)

    def require_history_commitment(self) -> None:
        """Refuse to read unconfirmed blocks, which are not in a node's history."""
        if self.commitment == "processed":
            raise InvalidParamsError("Method does not support commitment below `confirmed`")

    def flag(self, name: str) -> bool:
        return _expect(self._fields.get(name, False), bool, "boolean")

    def integer(self, name: str) -> int | None:
        value = self._fields.get(name)
        return None if value is None else _integer(value, name)

    def signature(self, name: str) -> Signature | None:
        value = self._fields.get(name)
        return None if value is None else signature(_expect(value, str, "string"))

    def text(self, name: str) -> str | None:
        value = self._fields.get(name)
        return None if value is None else _expect(value, str, "string")

    def record(self, name: str) -> "Params | None":
        """Return an object's values as if they were the only parameter."""
        value = self._fields.get(name)
        return None if value is None else Params([value])

    def require_base64(self) -> None:
        """Refuse any other encoding; a node's default, base58, does not do for more than 128 bytes."""
        if self._fields.get("encoding") != "base64":
            raise InvalidRequestError(
                "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."
            )


def public_key(text: str) -> Pubkey:
    try:
        return Pubkey.from_string(text)
    except ValueError as error:
        raise InvalidParamsError(f"Invalid param: {error}") from error


def signature(text: str) -> Signature:
    try:
        return Signature.from_string(text)
    except ValueError as error:
        raise InvalidParamsError(f"Invalid param: {error}") from error


def decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise InvalidParamsError(f"invalid base64 encoding: {error}") from error


def _integer(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_INTEGER:
        raise InvalidParamsError(f"invalid type of {name}: expected u64")
    return value


def _expect(value: object, kind: type[_Kind], name: str) -> _Kind:
    if not isinstance(value, kind):
        raise InvalidParamsError(f"invalid type: {type(value).__name__}, expected {name}")
    return value
