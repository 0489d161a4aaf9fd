"""Differences between a chain and its configuration, and the checks that find them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eth_utils.address import is_hex_address, to_checksum_address

from sweepapi.evm.multicall import Read

NOTHING = "no answer"
MAX_TEXT = 80


@dataclass(frozen=True)
class Operation:
    """A call of the access manager that is part of a deployment, and what it does in words."""

    what: str
    data: bytes


@dataclass(frozen=True)
class Difference:
    """Something that is not as configured; ``remedy`` is set if a deployment may correct it."""

    what: str
    configured: str
    on_chain: str
    remedy: Operation | None = None

    def __str__(self) -> str:
        return f"{self.what} / {self.configured} / {self.on_chain}"


# Takes the values that a read returned (None if it failed) and the block's time in seconds since 1970.
Judge = Callable[[Any, int], Iterator[Difference]]


@dataclass(frozen=True)
class Check:
    """A read and the judge of its result."""

    read: Read
    judge: Judge


def equal(what: str, read: Read, *expected: object, remedy: Operation | None = None, show: Any = None) -> Check:  # noqa: ANN401 - a function from one value to text
    """Return the check that a read returns exactly these values; the case of addresses does not matter."""
    wanted = tuple(_plain(value) for value in expected)
    shown = show or text

    def judge(result: Any, _now: int) -> Iterator[Difference]:  # noqa: ANN401 - as the ABI decodes it
        if result is None or tuple(_plain(value) for value in result) != wanted:
            yield Difference(
                what, _listed(wanted, shown), NOTHING if result is None else _listed(result, shown), remedy
            )

    return Check(read, judge)


def text(value: object) -> str:
    """Return an ABI value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, str) and is_hex_address(value):
        return to_checksum_address(value)
    # A contract that is not ours may return anything, at any length.
    return ascii(value)[:MAX_TEXT]


def _plain(value: object) -> object:
    return value.lower() if isinstance(value, str) and is_hex_address(value) else value


def _listed(values: Sequence[object], shown: Callable[[object], str]) -> str:
    return ", ".join(shown(value) for value in values)
