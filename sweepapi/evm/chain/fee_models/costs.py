"""What every fee model answers: the cost of a transaction's data now, and how far it can move until it is sent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_256
from math import ceil
from typing import Any, Protocol

from sweepapi.rpc import Call


@dataclass(frozen=True)
class UnsignedTransaction:
    """A transaction as it will be sent, with noise in place of its signatures."""

    to: str
    data: bytes


@dataclass(frozen=True)
class DataCost:
    """What a chain charges for a transaction's data."""

    gas: int  # units that ``gasUsed`` will have for the data; a refund of gas never covers them
    most_gas: int  # units that the gas limit must hold for it
    wei: int  # charged in addition to the gas
    most_wei: int
    wei_per_gas: Fraction = Fraction(0)  # charged for every unit of gas of the transaction, in addition to its price

    def fee(self, gas_used: int) -> int:
        """Return what a transaction is charged in addition to its gas, in wei, if it uses this much gas."""
        return self.wei + ceil(self.wei_per_gas * gas_used)

    def most_fee(self, gas_limit: int) -> int:
        """Return the most that a transaction with this gas limit is charged in addition to its gas, in wei."""
        return self.most_wei + ceil(self.wei_per_gas * gas_limit)


NO_COST = DataCost(0, 0, 0, 0)


def with_data(gas_limit: int, cost: DataCost | None) -> int:
    """Return a gas limit with room for the data; an unknown cost adds nothing."""
    return gas_limit if cost is None else gas_limit + cost.most_gas


@dataclass(frozen=True)
class DataReads:
    """The calls that read what the data of transactions costs; none where nothing is charged for it."""

    calls: Sequence[Call]
    costs: Callable[[Sequence[Any]], list[DataCost | None]]  # of the answers; None for what could not be read


class FeeModel(Protocol):
    """How a chain charges for the data of transactions."""

    @property
    def charges_gas(self) -> bool:
        """Whether the data takes a part of the gas of a transaction, and of a call at a price."""
        ...

    def reads(self, transactions: Sequence[UnsignedTransaction], *, chain_id: int, multicall3: str) -> DataReads:
        """Return how to read what the data of each of these costs."""
        ...

    def as_read(self, call: Call) -> Call:
        """Return a call as nodes make it without charging for its data, unless it tries a transaction."""
        ...


def noise(length: int, *, seed: str) -> bytes:
    """Return bytes that do not compress, and are the same for the same seed."""
    return shake_256(seed.encode()).digest(length)


def unsigned_signature(seed: str) -> bytes:
    """Return what takes the place of a signature (r, s, v) of 65 bytes until there is one."""
    return noise(64, seed=seed) + b"\x1b"
