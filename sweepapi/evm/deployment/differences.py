"""Differences between a chain and its specification, and the checks that find them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eth_utils.address import is_hex_address, to_checksum_address

from sweepapi.evm.chain.multicall import Read

NO_ANSWER = "no answer"
MAX_DISPLAY_LENGTH = 80


@dataclass(frozen=True)
class Operation:
    """A call of the access manager, with a description."""

    what: str
    data: bytes


@dataclass(frozen=True)
class DeploymentDifference:
    """A value that differs from the configured one; ``remedy`` is set if a deployment may fix it."""

    what: str
    configured: str
    on_chain: str
    remedy: Operation | None = None
    contract: str | None = None  # the only contract whose sweeps it affects; None: all sweeps

    def affects(self, contract: str) -> bool:
        """Return whether sweeps through this contract might not work because of it."""
        return self.contract in (None, contract)

    def __str__(self) -> str:
        return f"{self.what} / {self.configured} / {self.on_chain}"


# Takes the values that a read returned (None if it failed) and the block's time in seconds since 1970.
Compare = Callable[[Any, int], Iterator[DeploymentDifference]]


@dataclass(frozen=True)
class Check:
    """A read of the chain, and a function that compares the result."""

    read: Read
    compare: Compare
    contract: str | None = None  # as in ``DeploymentDifference``


def only_affecting(contract: str, checks: Iterable[Check]) -> Iterator[Check]:
    """Mark checks whose differences affect no sweeps except those through this contract."""
    return (replace(check, contract=contract) for check in checks)


def equals(what: str, read: Read, *expected: object, remedy: Operation | None = None, show: Any = None) -> Check:  # noqa: ANN401 - a function from one value to display
    """Return a check that a read returns exactly these values; the case of addresses does not matter."""
    wanted = tuple(_lower_address(value) for value in expected)
    shown = show or display

    def compare(answer: Any, _now: int) -> Iterator[DeploymentDifference]:  # noqa: ANN401 - as the ABI decodes it
        if answer is None or tuple(_lower_address(value) for value in answer) != wanted:
            yield DeploymentDifference(
                what, _listed(wanted, shown), NO_ANSWER if answer is None else _listed(answer, shown), remedy
            )

    return Check(read, compare)


def display(value: object) -> str:
    """Render a decoded ABI value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, str) and is_hex_address(value):
        return to_checksum_address(value)
    # Another contract at this address may return anything, of any length.
    return ascii(value)[:MAX_DISPLAY_LENGTH]


def _lower_address(value: object) -> object:
    return value.lower() if isinstance(value, str) and is_hex_address(value) else value


def _listed(values: Sequence[object], shown: Callable[[object], str]) -> str:
    return ", ".join(shown(value) for value in values)
