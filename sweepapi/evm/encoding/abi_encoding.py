"""Encodes arguments as the contract ABI specification says, each value checked once.

eth_abi checks a value again at every level around it, which takes ten times as long; tests compare the two.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eth_abi.grammar import ABIType, BasicType, TupleType

WORD_BYTES = 32
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


@dataclass(frozen=True)
class Encoder:
    """Encodes the values of one type; those of a dynamic type are behind an offset in the head of what has them."""

    encode: Callable[[Any], bytes]
    is_dynamic: bool = False
    head_bytes: int = WORD_BYTES


def encoder_of(kind: ABIType) -> Encoder:
    """Return the encoder of a parsed type."""
    if kind.is_array:
        return _array(encoder_of(kind.item_type))
    if isinstance(kind, TupleType):
        return encoder_of_all([encoder_of(component) for component in kind.components])
    if not isinstance(kind, BasicType):
        raise TypeError(f"{kind} is not a type")
    return _basic(kind)


def encoder_of_all(parts: Sequence[Encoder]) -> Encoder:
    """Return the encoder of a tuple, which is also that of a call's arguments."""
    head_bytes = sum(part.head_bytes for part in parts)
    if any(part.is_dynamic for part in parts):
        return Encoder(lambda values: _with_tails(parts, values, head_bytes), is_dynamic=True)
    encoders = [part.encode for part in parts]

    def encode(values: Sequence[Any]) -> bytes:
        return b"".join([encode(value) for encode, value in zip(encoders, values, strict=True)])

    return Encoder(encode, head_bytes=head_bytes)


def _with_tails(parts: Sequence[Encoder], values: Sequence[Any], head_bytes: int) -> bytes:
    """Return the values one after the other, and behind them the dynamic ones, each at its offset."""
    heads, tails = [], []
    offset = head_bytes
    for part, value in zip(parts, values, strict=True):
        encoded = part.encode(value)
        if part.is_dynamic:
            heads.append(offset.to_bytes(WORD_BYTES))
            tails.append(encoded)
            offset += len(encoded)
        else:
            heads.append(encoded)
    return b"".join(heads + tails)


def _array(item: Encoder) -> Encoder:
    def encode(values: Sequence[Any]) -> bytes:
        count = len(values)
        if item.is_dynamic:
            return count.to_bytes(WORD_BYTES) + _with_tails([item] * count, values, count * WORD_BYTES)
        return count.to_bytes(WORD_BYTES) + b"".join([item.encode(value) for value in values])

    return Encoder(encode, is_dynamic=True)


def _basic(kind: BasicType) -> Encoder:
    match kind.base, kind.sub:
        case "bytes", None:
            return Encoder(_bytes, is_dynamic=True)
        case "string", None:
            return Encoder(lambda text: _bytes(text.encode()), is_dynamic=True)
    encode, size = _WORDS[kind.base], kind.sub
    return Encoder(lambda value: encode(value, size))


@lru_cache(maxsize=2**12)  # a build encodes the same ones again and again
def _address(value: str, _size: None) -> bytes:
    if not ADDRESS.fullmatch(value):
        raise ValueError(f"{value!r} is not an address")
    return bytes.fromhex(value[2:]).rjust(WORD_BYTES, b"\0")


def _bool(value: bool, _size: None) -> bytes:  # noqa: FBT001 - a value to encode
    return _uint(value, 1)


def _uint(value: int, bits: int) -> bytes:
    if value >> bits:
        raise ValueError(f"{value} is not an unsigned integer of {bits} bits")
    return value.to_bytes(WORD_BYTES)


def _int(value: int, bits: int) -> bytes:
    if value >> bits - 1 not in (0, -1):
        raise ValueError(f"{value} is not an integer of {bits} bits")
    return value.to_bytes(WORD_BYTES, signed=True)


def _fixed_bytes(value: bytes, size: int) -> bytes:
    if len(value) != size:
        raise ValueError(f"expected {size} bytes")
    return value.ljust(WORD_BYTES, b"\0")


def _bytes(value: bytes) -> bytes:
    return len(value).to_bytes(WORD_BYTES) + value + bytes(-len(value) % WORD_BYTES)


_WORDS: Mapping[str, Callable[[Any, Any], bytes]] = {
    "address": _address,
    "bool": _bool,
    "uint": _uint,
    "int": _int,
    "bytes": _fixed_bytes,
}
