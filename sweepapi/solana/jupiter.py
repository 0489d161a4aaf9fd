"""What Jupiter's aggregator enforces on chain, read from its instruction, so that it is what the quote promised.

Without this a swap API could pass the simulation with a fair price and a minimum of nothing, and take the difference
when the transaction lands. Layouts are those of ``route_v2`` and ``shared_accounts_route_v2`` in the program's IDL.
"""

from struct import Struct

from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.solana.errors import UnsafeSwapError

PROGRAM = Pubkey.from_string("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")
# How the data of each begins: the first 8 bytes of sha256("global:<name>"), and the number of the shared accounts.
ROUTE = bytes.fromhex("bb64facc31c4af14")
SHARED_ACCOUNTS_ROUTE = bytes.fromhex("d19853937cfed8e9")
_STARTS = {ROUTE: 8, SHARED_ACCOUNTS_ROUTE: 9}
_TERMS = Struct("<QQHH")  # amount in, quoted amount out, slippage and platform fee in basis points
_BPS = 10_000


def check_route(instruction: Instruction, *, amount: int, minimum: int, fee_bps: int) -> None:
    """Check that a route sells this amount for at least the minimum; other programs' instructions are not looked at."""
    if instruction.program_id != PROGRAM:
        return
    data = bytes(instruction.data)
    start = _STARTS.get(data[:8])
    if start is None or len(data) < start + _TERMS.size:
        raise UnsafeSwapError(f"it calls an instruction of Jupiter's that is not a known route: {data[:8].hex()}")
    sold, quoted, slippage_bps, route_fee_bps = _TERMS.unpack_from(data, start)
    enforced = quoted * max(_BPS - slippage_bps, 0) // _BPS
    if sold != amount:
        raise UnsafeSwapError(f"its route sells {sold}, not {amount}")
    if enforced < minimum:
        raise UnsafeSwapError(f"its route enforces {enforced}, less than the minimum {minimum}")
    if route_fee_bps != fee_bps:
        raise UnsafeSwapError(f"its route takes a fee of {route_fee_bps} bps, not {fee_bps}")
