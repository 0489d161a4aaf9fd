"""What Jupiter's aggregator enforces on chain, read from its instruction, so that it is what the quote promised.

Layouts are those of the program's IDL.
"""

from collections.abc import Sequence
from struct import Struct

from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.solana.encoding.errors import UnsafeSwapError

PROGRAM = Pubkey.from_string("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")
# How the data of each begins: the first 8 bytes of sha256("global:<name>").
ROUTE_V2 = bytes.fromhex("bb64facc31c4af14")
SHARED_ACCOUNTS_ROUTE_V2 = bytes.fromhex("d19853937cfed8e9")
ROUTE = bytes.fromhex("e517cb977ae3ad2a")
SHARED_ACCOUNTS_ROUTE = bytes.fromhex("c1209b3341d69c81")

# The terms: amount in, quoted amount out, slippage and platform fee in basis points. The steps of the route follow
# those of the second versions, with the number of the shared accounts before them, and precede those of the first.
_TERMS_V2 = Struct("<QQHH")
_TERMS_V1 = Struct("<QQHB")
_STARTS_V2 = {ROUTE_V2: 8, SHARED_ACCOUNTS_ROUTE_V2: 9}
# Where the account that is sold from is among the accounts.
_SOURCES = {ROUTE_V2: 1, SHARED_ACCOUNTS_ROUTE_V2: 2, ROUTE: 2, SHARED_ACCOUNTS_ROUTE: 3}
_NAMES_V1 = (ROUTE, SHARED_ACCOUNTS_ROUTE)
_NAME_BYTES = 8


def check_routes(
    instructions: Sequence[Instruction], *, source: Pubkey, amount: int, minimum: int, fee_bps: int
) -> None:
    """Check that the only route sells this amount of an account for at least the minimum.

    A second route could sell what else the wallet holds, at a price that the simulation does not show yet. Other
    programs' instructions are not looked at.

    Jupiter does not document whether the output that it compares with the quoted one is before or after the platform
    fee, and bytes after those that its program reads could imitate the terms of the first versions. So this stops
    mistakes and crude attempts early; what the user receives is guaranteed by our own ``guard``.
    """
    routes = [instruction for instruction in instructions if instruction.program_id == PROGRAM]
    if len(routes) > 1:
        raise UnsafeSwapError(f"it has {len(routes)} routes")
    for route in routes:
        _check_terms(route, amount=amount, minimum=minimum, fee_bps=fee_bps)
        _check_source(route, source)


def _check_terms(instruction: Instruction, *, amount: int, minimum: int, fee_bps: int) -> None:
    sold, quoted, slippage_bps, route_fee_bps = _terms(bytes(instruction.data))
    # Rounded as Jupiter's API rounds its threshold: it quotes 16198753 with at least 16117760 for 50 bps.
    enforced = quoted - quoted * min(slippage_bps, BPS_DENOMINATOR) // BPS_DENOMINATOR
    if sold != amount:
        raise UnsafeSwapError(f"its route sells {sold}, not {amount}")
    if enforced < minimum:
        raise UnsafeSwapError(f"its route enforces {enforced}, less than the minimum {minimum}")
    if route_fee_bps != fee_bps:
        raise UnsafeSwapError(f"its route takes a fee of {route_fee_bps} bps, not {fee_bps}")


def _check_source(instruction: Instruction, source: Pubkey) -> None:
    position = _SOURCES[bytes(instruction.data)[:_NAME_BYTES]]
    named = [account.pubkey for account in instruction.accounts[position : position + 1]]
    if named != [source]:
        raise UnsafeSwapError(f"its route does not sell from {source}")


def _terms(data: bytes) -> tuple[int, int, int, int]:
    name = data[:_NAME_BYTES]
    if name in _NAMES_V1 and len(data) >= _NAME_BYTES + _TERMS_V1.size:
        return _TERMS_V1.unpack_from(data, len(data) - _TERMS_V1.size)
    start = _STARTS_V2.get(name)
    if start is None or len(data) < start + _TERMS_V2.size:
        raise UnsafeSwapError(f"it calls an instruction of Jupiter's that is not a known route: {name.hex()}")
    return _TERMS_V2.unpack_from(data, start)
