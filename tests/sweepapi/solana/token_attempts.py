"""What a thief would add to an honest swap with the token programs: each function returns its instructions."""

from struct import pack

from solders.instruction import Instruction
from spl.token import instructions as token
from spl.token import models

from sweepapi.solana.encoding.addresses import ASSOCIATED_TOKEN, SYSTEM, TOKEN, TOKEN_2022, WRAPPED_SOL
from tests.sweepapi.solana.calls import call, writable
from tests.sweepapi.solana.swap_scene import Scene

FUNDED_LAMPORTS = 10**9


def another_token(scene: Scene) -> list[Instruction]:
    return [scene.move(scene.kept_account, scene.account(scene.thief, scene.kept), scene.kept, 1)]


def another_token_unchecked(scene: Scene) -> list[Instruction]:
    data = b"\x03" + pack("<Q", 500)
    return [call(TOKEN, data, [scene.kept_account, scene.account(scene.thief, scene.kept)], [], scene.wallet)]


def more_in_small_parts(scene: Scene) -> list[Instruction]:
    """Sell more of a token than was asked for, after the honest sale."""
    scene.faucet.mint_to(scene.sold_account, scene.sold, 3)
    thief = scene.account(scene.thief, scene.sold)
    return [scene.move(scene.sold_account, thief, scene.sold, 1) for _ in range(3)]


def transfer_with_fee(scene: Scene) -> list[Instruction]:
    data = b"\x1a\x01" + pack("<QBQ", 500, 6, 25)
    account, thief = scene.give_extended()
    return [call(TOKEN_2022, data, [account, scene.extended, thief], [], scene.wallet)]


def burn(scene: Scene) -> list[Instruction]:
    return [call(TOKEN, b"\x08" + pack("<Q", 1), [scene.kept_account, scene.kept], [], scene.wallet)]


def approval(scene: Scene) -> list[Instruction]:
    return [call(TOKEN, b"\x04" + pack("<Q", 1), [scene.kept_account], [scene.thief], scene.wallet)]


def checked_approval(scene: Scene) -> list[Instruction]:
    data = b"\x0d" + pack("<QB", 1, 6)
    return [call(TOKEN, data, [scene.kept_account], [scene.kept, scene.thief], scene.wallet)]


def approval_of_the_output(scene: Scene) -> list[Instruction]:
    output = scene.account(scene.wallet, scene.cluster.usdc)
    return [call(TOKEN, b"\x04" + pack("<Q", 1), [output], [scene.thief], scene.wallet)]


def close_authority_of_the_output(scene: Scene) -> list[Instruction]:
    output = scene.account(scene.wallet, scene.cluster.usdc)
    return [call(TOKEN, bytes([6, 3, 1]) + bytes(scene.thief), [output], [], scene.wallet)]


def larger_approval_of_an_old_delegate(scene: Scene) -> list[Instruction]:
    scene.change(scene.kept_account, {72: pack("<I32s", 1, bytes(scene.thief)), 121: pack("<Q", 1)})
    return [call(TOKEN, b"\x04" + pack("<Q", 500), [scene.kept_account], [scene.thief], scene.wallet)]


def ownership(scene: Scene) -> list[Instruction]:
    return [_set_authority(scene, models.AuthorityType.ACCOUNT_OWNER)]


def close_authority(scene: Scene) -> list[Instruction]:
    return [_set_authority(scene, models.AuthorityType.CLOSE_ACCOUNT)]


def _set_authority(scene: Scene, kind: models.AuthorityType) -> Instruction:
    data = bytes([6, kind, 1]) + bytes(scene.thief)
    return call(TOKEN, data, [scene.kept_account], [], scene.wallet)


def rent_of_an_empty_account(scene: Scene) -> list[Instruction]:
    return [scene.close(scene.empty_account, scene.thief)]


def closing_of_an_empty_account_for_the_wallet(scene: Scene) -> list[Instruction]:
    return [scene.close(scene.empty_account, scene.wallet)]


def wrapped_sol(scene: Scene) -> list[Instruction]:
    account = scene.faucet.give_tokens(scene.wallet, WRAPPED_SOL, FUNDED_LAMPORTS)
    return [scene.close(account, scene.thief)]


def new_tokens_of_the_wallets_mint(scene: Scene) -> list[Instruction]:
    mint = scene.mint_of_wallet()
    data = b"\x07" + pack("<Q", 10**6)
    return [call(TOKEN, data, [mint, scene.faucet.create_account(scene.thief, mint)], [], scene.wallet)]


def mint_authority(scene: Scene) -> list[Instruction]:
    return [call(TOKEN, bytes([6, 0, 1]) + bytes(scene.thief), [scene.mint_of_wallet()], [], scene.wallet)]


def another_owner_of_a_new_account(scene: Scene) -> list[Instruction]:
    mint = scene.faucet.create_mint(6)
    return [token.create_idempotent_associated_token_account(scene.wallet, scene.thief, mint)]


def recovery_of_a_nested_account(scene: Scene) -> list[Instruction]:
    return [call(ASSOCIATED_TOKEN, b"\x02", [scene.kept_account], [scene.kept] * 4, scene.wallet)]


def guard_against_programs(scene: Scene) -> list[Instruction]:
    """Enable an extension of Token-2022 that keeps programs from using the account."""
    account, _ = scene.give_extended()
    keys = [scene.wallet, SYSTEM]
    grown = call(TOKEN_2022, b"\x1d" + pack("<H", 11), [account], keys, scene.wallet)
    return [grown, call(TOKEN_2022, b"\x22\x00", [account], [], scene.wallet)]


def withheld_fees(scene: Scene) -> list[Instruction]:
    """Take the fees that another's account withheld, which the wallet may as an authority of the mint."""
    received = scene.withholding()
    thief = scene.account(scene.thief, scene.extended)
    take = call(TOKEN_2022, b"\x1a\x03\x01", [scene.extended, thief], [], scene.wallet)
    return [Instruction(TOKEN_2022, take.data, [*take.accounts, writable(received)])]


def withheld_fees_of_the_mint(scene: Scene) -> list[Instruction]:
    received = scene.withholding()
    thief = scene.account(scene.thief, scene.extended)
    scene.faucet.run([Instruction(TOKEN_2022, b"\x1a\x04", [writable(scene.extended), writable(received)])])
    return [call(TOKEN_2022, b"\x1a\x02", [scene.extended, thief], [], scene.wallet)]


def anothers_account_frozen(scene: Scene) -> list[Instruction]:
    mint = scene.mint_of_wallet()
    account = scene.faucet.create_account(scene.maker, mint)
    return [call(TOKEN, b"\x0a", [account], [mint], scene.wallet)]


def confidential_transfer(scene: Scene) -> list[Instruction]:
    account, thief = scene.give_extended()
    return [call(TOKEN_2022, b"\x1b\x07" + bytes(60), [account], [scene.extended, thief], scene.wallet)]


def excess_lamports(scene: Scene) -> list[Instruction]:
    account, _ = scene.give_extended()
    scene.faucet.give_lamports(account, FUNDED_LAMPORTS)
    return [call(TOKEN_2022, b"\x26", [account, scene.thief], [], scene.wallet)]
