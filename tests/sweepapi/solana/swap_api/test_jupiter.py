"""What a route of Jupiter enforces on chain has to be what the quote promised."""

from hashlib import sha256
from struct import pack

import pytest
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey

from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.swap_api import jupiter
from sweepapi.solana.swap_api.jupiter import check_routes

STEPS = pack("<IBBBB", 1, 7, 100, 0, 1)
SHARED_ACCOUNTS = b"\x07"
# As the program's IDL names the accounts of each, up to the one that is sold from.
ACCOUNTS = {
    "route": ["token_program", "user_transfer_authority"],
    "shared_accounts_route": ["token_program", "program_authority", "user_transfer_authority"],
    "route_v2": ["user_transfer_authority"],
    "shared_accounts_route_v2": ["program_authority", "user_transfer_authority"],
}
ROUTES = [*ACCOUNTS]
SOURCE, OTHER = Pubkey.new_unique(), Pubkey.new_unique()


def discriminator(name: str) -> bytes:
    return sha256(f"global:{name}".encode()).digest()[:8]


def route(
    name: str = "route_v2",
    *,
    sold: int = 1_000,
    quoted: int = 10_000,
    slippage_bps: int = 50,
    fee_bps: int = 100,
) -> Instruction:
    positive_slippage_bps = 0
    start = discriminator(name) + (SHARED_ACCOUNTS if name.startswith("shared") else b"")
    if name.endswith("_v2"):
        data = start + pack("<QQHHH", sold, quoted, slippage_bps, fee_bps, positive_slippage_bps) + STEPS
    else:
        data = start + STEPS + pack("<QQHB", sold, quoted, slippage_bps, fee_bps)
    keys = [*(OTHER for _ in ACCOUNTS.get(name, [])), SOURCE, OTHER]
    return Instruction(jupiter.PROGRAM, data, [AccountMeta(key, is_signer=False, is_writable=True) for key in keys])


def check(*instructions: Instruction, minimum: int = 9_950) -> None:
    check_routes(instructions, source=SOURCE, amount=1_000, minimum=minimum, fee_bps=100)


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_with_the_terms_of_the_quote_is_accepted(name: str) -> None:
    check(route(name))


@pytest.mark.parametrize("name", ROUTES)
def test_the_minimum_is_rounded_as_jupiter_rounds_it(name: str) -> None:
    # The example of Jupiter's documentation: 0.5 % less than 16198753 is 16117759.235.
    check(route(name, quoted=16_198_753), minimum=16_117_760)

    with pytest.raises(UnsafeSwapError, match="enforces 16117760, less than the minimum 16117761"):
        check(route(name, quoted=16_198_753), minimum=16_117_761)


@pytest.mark.parametrize("name", ROUTES)
def test_routes_are_known_by_their_discriminator(name: str) -> None:
    assert getattr(jupiter, name.upper()) == discriminator(name)


def test_instructions_of_other_programs_are_left_to_the_inspection() -> None:
    other = Instruction(Pubkey.new_unique(), b"", [])
    check(other)
    check(other, route(), other)


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_that_sells_from_another_account_is_refused(name: str) -> None:
    honest = route(name)
    for accounts in (honest.accounts[1:], []):
        with pytest.raises(UnsafeSwapError, match="does not sell from"):
            check(Instruction(jupiter.PROGRAM, honest.data, accounts))


def test_a_second_route_is_refused() -> None:
    with pytest.raises(UnsafeSwapError, match="2 routes"):
        check(route(), route())


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sold": 1_001}, "sells 1001, not 1000"),
        ({"sold": 999}, "sells 999, not 1000"),
        ({"quoted": 9_999}, "enforces 9950, less than the minimum 9951"),
        ({"slippage_bps": 50}, "enforces 9950, less than the minimum 9951"),
        ({"slippage_bps": 10_000}, "enforces 0, less than"),
        ({"slippage_bps": 65_535}, "enforces 0, less than"),
        ({"fee_bps": 101, "quoted": 10_001}, "takes a fee of 101 bps, not 100"),
        ({"fee_bps": 0, "quoted": 10_001}, "takes a fee of 0 bps, not 100"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_route_with_other_terms_is_refused(name: str, changed: dict[str, int], reason: str) -> None:
    with pytest.raises(UnsafeSwapError, match=reason):
        check(route(name, **changed), minimum=9_951)


@pytest.mark.parametrize("name", ["exact_out_route_v2", "route_with_token_ledger", "set_token_ledger", "close_token"])
def test_other_instructions_of_jupiter_are_refused(name: str) -> None:
    with pytest.raises(UnsafeSwapError, match="not a known route"):
        check(route(name))


@pytest.mark.parametrize("length", [0, 7, 8, 26])
@pytest.mark.parametrize("name", ["route", "route_v2"])
def test_a_route_that_is_cut_off_is_refused(name: str, length: int) -> None:
    whole = route(name)

    with pytest.raises(UnsafeSwapError, match="not a known route"):
        check(Instruction(jupiter.PROGRAM, bytes(whole.data)[:length], []))
