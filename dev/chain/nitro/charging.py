"""What ArbOS charges for a transaction's data: ``arbos/l1pricing`` and ``arbos/tx_processor.go``."""

from dataclasses import dataclass
from typing import Any

import rlp

from dev.chain.nitro.compression import compressed_size
from sweepapi.evm.encoding.addresses import keccak_hex

UNITS_PER_BYTE = 16
# Of a transaction that is only simulated, because its signature and fees are not known.
PADDING_UNITS, PADDING_PERCENT = 16 * UNITS_PER_BYTE, 101
ESTIMATE_PERCENT = 110  # of the price of data
TYPE = b"\x02"
SIGNATURE_V = 3 * 42_161


def _random(label: bytes, size: int) -> int:
    """Return the number that nodes take for a field that is not known."""
    return int(keccak_hex(label)[2:][: 2 * size], 16)


@dataclass(frozen=True)
class Prices:
    """What the chain charges at a block."""

    data: int  # wei per unit of data
    base_fee: int  # wei per unit of gas; zero in calls that pay nothing
    min_base_fee: int

    def gas(self, units: int) -> int:
        """Return the gas that a transaction on chain is charged for its data; a free block charges none."""
        return units * self.data // self.base_fee if self.base_fee else 0

    def estimated_gas(self, units: int) -> int:
        """Return the gas that an estimate adds: it allows for a lower base fee and more expensive data."""
        price = max(self.base_fee * 7 // 8, self.min_base_fee)
        return units * self.data * ESTIMATE_PERCENT // 100 // price


def units_of(raw: bytes) -> int:
    """Return the units of a signed transaction."""
    return UNITS_PER_BYTE * compressed_size(raw)


def simulated_units(message: dict[str, Any]) -> int:
    """Return the units of a transaction that is only simulated, in the form of ``eth_call``."""
    fields = [
        0,
        _number(message, "nonce") or _random(b"Nonce", 8),
        _number(message, "maxPriorityFeePerGas") or _random(b"GasTipCap", 4),
        _number(message, "maxFeePerGas") or _random(b"GasFeeCap", 4),
        _number(message, "gas") or _random(b"Gas", 4),
        bytes.fromhex(message["to"][2:]),
        _number(message, "value"),
        data_of(message),
        [],
        SIGNATURE_V,
        _random(b"R", 32),
        _random(b"S", 32),
    ]
    return (units_of(TYPE + bytes(rlp.encode(fields))) + PADDING_UNITS) * PADDING_PERCENT // 100


def data_of(message: dict[str, Any]) -> bytes:
    """Return the calldata of a message."""
    return bytes.fromhex((message.get("data") or message.get("input") or "0x")[2:])


def _number(message: dict[str, Any], name: str) -> int:
    return int(message.get(name, "0x0"), 16)
