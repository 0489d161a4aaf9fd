"""Every instruction of a swap API is decoded, and refused unless a swap needs it."""

from struct import pack

import pytest
from solders.compute_budget import set_compute_unit_price
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from spl.token.instructions import create_associated_token_account, create_idempotent_associated_token_account

from sweepapi.solana.encoding.addresses import (
    ASSOCIATED_TOKEN,
    SYSTEM,
    TOKEN,
    TOKEN_2022,
    WRAPPED_SOL,
    associated_account,
)
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.swap_api.inspection import check_cleanup, inspect

WALLET, OTHER, MINT, SWAP_PROGRAM = (Pubkey.new_unique() for _ in range(4))
SWEPT, KEPT = associated_account(WALLET, MINT, TOKEN), associated_account(WALLET, OTHER, TOKEN)
WRAPPED = associated_account(WALLET, WRAPPED_SOL, TOKEN)
NEEDED_BY_SWAPS = (0x03, 0x09, 0x0C, 0x11)  # Transfer, CloseAccount, TransferChecked, SyncNative


def call(program: Pubkey, data: bytes, *keys: Pubkey, signer: Pubkey = WALLET) -> Instruction:
    accounts = [AccountMeta(key, is_signer=False, is_writable=True) for key in keys]
    return Instruction(program, data, [*accounts, AccountMeta(signer, is_signer=True, is_writable=False)])


def check(*instructions: Instruction) -> None:
    inspect(
        instructions,
        wallet=WALLET,
        swept={SWEPT: 100},
        mints_of={SWEPT: MINT, KEPT: OTHER},
        allowed_programs=[SWAP_PROGRAM],
    )


def transfer_of(amount: int, source: Pubkey = SWEPT) -> Instruction:
    return call(TOKEN, b"\x03" + pack("<Q", amount), source, OTHER)


def test_what_a_swap_needs_is_accepted() -> None:
    check(
        create_idempotent_associated_token_account(WALLET, WALLET, MINT, TOKEN_2022),
        create_associated_token_account(WALLET, WALLET, WRAPPED_SOL),
        call(TOKEN, b"\x11", WRAPPED),
        call(SWAP_PROGRAM, b"anything", SWEPT, KEPT, OTHER),
        transfer_of(60),
        call(TOKEN, b"\x0c" + pack("<QB", 40, 6), SWEPT, MINT, OTHER),
        call(TOKEN, b"\x09", WRAPPED, WALLET),
    )


def test_a_cleanup_unwraps_sol() -> None:
    check_cleanup(call(TOKEN, b"\x09", WRAPPED, WALLET))


@pytest.mark.parametrize(
    "instruction",
    [transfer_of(1), call(SWAP_PROGRAM, b"\x09", WRAPPED, WALLET), call(TOKEN, b"", WRAPPED, WALLET)],
    ids=["a transfer", "another program", "no data"],
)
def test_a_cleanup_that_does_anything_else_is_refused(instruction: Instruction) -> None:
    with pytest.raises(UnsafeSwapError, match="cleanup"):
        check_cleanup(instruction)


def test_tokens_that_others_let_the_wallet_move_may_move() -> None:
    check(transfer_of(10**9, source=OTHER))


def test_transfers_count_together() -> None:
    with pytest.raises(UnsafeSwapError, match="transfers 101 of"):
        check(transfer_of(60), transfer_of(41))


def test_a_transfer_of_the_largest_amount_does_not_overflow() -> None:
    with pytest.raises(UnsafeSwapError, match="transfers 18446744073709551615 of"):
        check(transfer_of(2**64 - 1), transfer_of(2**64 - 1))


@pytest.mark.parametrize("program", [TOKEN, TOKEN_2022])
def test_other_instructions_of_token_programs_are_refused(program: Pubkey) -> None:
    for kind in set(range(256)) - set(NEEDED_BY_SWAPS):
        with pytest.raises(UnsafeSwapError, match=f"calls a token program's instruction {kind}$"):
            check(call(program, bytes([kind]) + bytes(8), SWEPT, OTHER))


@pytest.mark.parametrize(
    "instruction",
    [
        call(TOKEN, b"", SWEPT, OTHER),
        call(TOKEN, b"\x03" + bytes(7), SWEPT, OTHER),
        call(TOKEN, b"\x03" + bytes(9), SWEPT, OTHER),
        call(TOKEN, b"\x03" + bytes(8), SWEPT),
        call(TOKEN, b"\x0c" + bytes(9), SWEPT, OTHER),
        call(TOKEN, b"\x09\x00", WRAPPED, WALLET),
        Instruction(TOKEN, b"\x09", []),
    ],
)
def test_malformed_token_instructions_are_refused(instruction: Instruction) -> None:
    with pytest.raises(UnsafeSwapError, match="calls a token program's instruction"):
        check(instruction)


@pytest.mark.parametrize(
    "program", [SYSTEM, OTHER, *map(Pubkey.from_string, ("Stake11111111111111111111111111111111111111",))]
)
def test_other_programs_are_refused(program: Pubkey) -> None:
    with pytest.raises(UnsafeSwapError, match=f"calls the program {program}"):
        check(call(program, b"", WALLET))


def test_compute_budgets_are_refused() -> None:
    with pytest.raises(UnsafeSwapError, match="calls the program ComputeBudget"):
        check(set_compute_unit_price(10**12))


@pytest.mark.parametrize("program", [SWAP_PROGRAM, TOKEN, ASSOCIATED_TOKEN])
def test_the_wallet_is_the_only_signer(program: Pubkey) -> None:
    with pytest.raises(UnsafeSwapError, match=f"needs the signature of {OTHER}"):
        check(call(program, b"\x11", WRAPPED, signer=OTHER))


@pytest.mark.parametrize("account", [SWEPT, KEPT, OTHER, associated_account(WALLET, WRAPPED_SOL, TOKEN_2022)])
def test_only_wrapped_sol_is_closed(account: Pubkey) -> None:
    with pytest.raises(UnsafeSwapError, match=f"closes the account {account}"):
        check(call(TOKEN, b"\x09", account, WALLET))


def test_wrapped_sol_is_unwrapped_for_the_wallet_only() -> None:
    with pytest.raises(UnsafeSwapError, match=f"closes an account in favor of {OTHER}"):
        check(call(TOKEN, b"\x09", WRAPPED, OTHER))


def test_accounts_are_not_created_for_others() -> None:
    with pytest.raises(UnsafeSwapError, match=f"creates a token account of {OTHER}"):
        check(create_idempotent_associated_token_account(WALLET, OTHER, MINT))


def test_accounts_are_not_created_at_the_expense_of_others() -> None:
    accounts = create_idempotent_associated_token_account(WALLET, WALLET, MINT).accounts
    accounts[0] = AccountMeta(OTHER, is_signer=False, is_writable=True)

    with pytest.raises(UnsafeSwapError, match=f"that {OTHER} pays"):
        check(Instruction(ASSOCIATED_TOKEN, b"\x01", accounts))


def test_a_created_account_is_the_associated_one() -> None:
    created = create_idempotent_associated_token_account(WALLET, WALLET, MINT)
    accounts = created.accounts
    accounts[1] = AccountMeta(OTHER, is_signer=False, is_writable=True)

    with pytest.raises(UnsafeSwapError, match="not the associated one"):
        check(Instruction(ASSOCIATED_TOKEN, created.data, accounts))


@pytest.mark.parametrize("data", [b"\x02", b"\x03", b"\x01\x00"])
def test_a_nested_account_is_not_recovered(data: bytes) -> None:
    created = create_idempotent_associated_token_account(WALLET, WALLET, MINT)

    with pytest.raises(UnsafeSwapError, match="something other than creating"):
        check(Instruction(ASSOCIATED_TOKEN, data, created.accounts))


@pytest.mark.parametrize("position", [4, 5], ids=["system program", "token program"])
def test_an_account_is_created_by_the_real_programs(position: int) -> None:
    created = create_idempotent_associated_token_account(WALLET, WALLET, MINT)
    accounts = created.accounts
    accounts[position] = AccountMeta(OTHER, is_signer=False, is_writable=False)

    with pytest.raises(UnsafeSwapError, match="malformed accounts"):
        check(Instruction(ASSOCIATED_TOKEN, created.data, accounts))
