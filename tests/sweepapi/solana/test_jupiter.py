"""What a route of Jupiter enforces on chain has to be what the quote promised."""

from hashlib import sha256
from struct import pack

import pytest
from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.solana import jupiter
from sweepapi.solana.errors import UnsafeSwapError
from sweepapi.solana.jupiter import check_route

STEPS = pack("<I", 0)
STARTS = {"route_v2": jupiter.ROUTE, "shared_accounts_route_v2": jupiter.SHARED_ACCOUNTS_ROUTE + b"\x07"}


def route(
    start: bytes = jupiter.ROUTE, *, sold: int = 1_000, quoted: int = 10_000, slippage_bps: int = 50, fee_bps: int = 100
) -> Instruction:
    positive_slippage_bps = 0
    terms = pack("<QQHHH", sold, quoted, slippage_bps, fee_bps, positive_slippage_bps)
    return Instruction(jupiter.PROGRAM, start + terms + STEPS, [])


def check(instruction: Instruction) -> None:
    check_route(instruction, amount=1_000, minimum=9_950, fee_bps=100)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_route_with_the_terms_of_the_quote_is_accepted(start: bytes) -> None:
    check(route(start))


@pytest.mark.parametrize("name", STARTS)
def test_routes_are_known_by_their_discriminator(name: str) -> None:
    assert STARTS[name].startswith(sha256(f"global:{name}".encode()).digest()[:8])


def test_instructions_of_other_programs_are_left_to_the_inspection() -> None:
    check(Instruction(Pubkey.new_unique(), b"", []))


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sold": 1_001}, "sells 1001, not 1000"),
        ({"sold": 999}, "sells 999, not 1000"),
        ({"quoted": 9_999}, "enforces 9949, less than the minimum 9950"),
        ({"slippage_bps": 51}, "enforces 9949, less than the minimum 9950"),
        ({"slippage_bps": 10_000}, "enforces 0, less than"),
        ({"slippage_bps": 65_535}, "enforces 0, less than"),
        ({"fee_bps": 101}, "takes a fee of 101 bps, not 100"),
        ({"fee_bps": 0}, "takes a fee of 0 bps, not 100"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_route_with_other_terms_is_refused(start: bytes, changed: dict[str, int], reason: str) -> None:
    with pytest.raises(UnsafeSwapError, match=reason):
        check(route(start, **changed))


@pytest.mark.parametrize("name", ["route", "exact_out_route_v2", "set_token_ledger", "close_token"])
def test_other_instructions_of_jupiter_are_refused(name: str) -> None:
    with pytest.raises(UnsafeSwapError, match="not a known route"):
        check(route(sha256(f"global:{name}".encode()).digest()[:8]))


@pytest.mark.parametrize("length", [0, 7, 8, 27])
def test_a_route_that_is_cut_off_is_refused(length: int) -> None:
    whole = route()

    with pytest.raises(UnsafeSwapError, match="not a known route"):
        check(Instruction(jupiter.PROGRAM, bytes(whole.data)[:length], []))
