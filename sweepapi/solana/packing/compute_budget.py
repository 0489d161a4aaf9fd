"""What a transaction pays to be executed: a limit of compute units and a price for each, under a cap in lamports."""

from collections.abc import Sequence

from solders.compute_budget import set_compute_unit_limit, set_compute_unit_price
from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.rpc import Call
from sweepapi.solana.encoding import responses
from sweepapi.solana.encoding.addresses import COMPUTE_BUDGET

MAX_UNITS = 1_400_000  # that a transaction can ask for
MARGIN_PERCENT = 20  # pools change between the simulation and the block
# Creates the output's account, if another transaction of the sweep closed the one that the simulation still saw.
MARGIN_UNITS = 40_000
# Of what others paid lately, by the names that swap APIs have for it.
PERCENTILES = {"medium": 25, "high": 50, "veryHigh": 75}
USUAL_PERCENTILE = "veryHigh"
LAMPORTS_PER_SIGNATURE = 5_000
MICRO_LAMPORTS = 1_000_000  # a unit's price is in millionths of a lamport
_SET_PRICE, _PRICE_BYTES = b"\x03", 9  # with the price in eight of them
MAX_FEE_ACCOUNTS = 128  # that one getRecentPrioritizationFees takes


def instructions(*, unit_limit: int, unit_price: int) -> tuple[Instruction, Instruction]:
    """Return the instructions that open every transaction; their size does not depend on the values."""
    return set_compute_unit_limit(unit_limit), set_compute_unit_price(unit_price)


def unit_limit(consumed: int) -> int:
    """Return the limit for a transaction whose simulation consumed these units."""
    return min(_divided_up(consumed * (100 + MARGIN_PERCENT), 100) + MARGIN_UNITS, MAX_UNITS)


def recent_price(recent: Sequence[int], percentile: str) -> int:
    """Return the price, in micro-lamports, that so many of the recent blocks did not exceed; 0 if none is known."""
    ranked = sorted(recent)
    return ranked[(len(ranked) - 1) * PERCENTILES[percentile] // 100] if ranked else 0


def affordable(price: int, *, unit_limit: int, max_lamports: int) -> int:
    """Return a price, in micro-lamports, or the one at which the units cost ``max_lamports`` if that is lower."""
    return min(price, max_lamports * MICRO_LAMPORTS // max(unit_limit, 1))


def price_in(instruction: Instruction) -> int | None:
    """Return the price, in micro-lamports, that an instruction sets; None if it is another instruction."""
    data = bytes(instruction.data)
    is_price = instruction.program_id == COMPUTE_BUDGET and data[:1] == _SET_PRICE and len(data) == _PRICE_BYTES
    return int.from_bytes(data[1:], "little") if is_price else None


def fee_lamports(*, unit_limit: int, unit_price: int) -> int:
    """Return what a transaction with one signature costs, successful or not."""
    return LAMPORTS_PER_SIGNATURE + _divided_up(unit_limit * unit_price, MICRO_LAMPORTS)


def recent_fees_call(writable: Sequence[Pubkey]) -> Call:
    """Return the call for the prices, in micro-lamports, that recent blocks took for writing to these accounts."""
    keys = [str(key) for key in writable[:MAX_FEE_ACCOUNTS]]
    return Call("getRecentPrioritizationFees", (keys,), _recent_fees)


def _recent_fees(result: object) -> tuple[int, ...]:
    rows = (responses.mapping(row) for row in responses.sequence(result))
    return tuple(responses.amount(row.get("prioritizationFee")) for row in rows)


def _divided_up(amount: int, divisor: int) -> int:
    return -(-amount // divisor)
