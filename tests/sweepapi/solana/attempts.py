"""What a thief's instructions look like: each function returns what it would add to an honest swap."""

from struct import pack

from solders import system_program as system
from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from solders.sysvar import CLOCK, RECENT_BLOCKHASHES, RENT
from spl.token import instructions as token
from spl.token import models

from sweepapi.solana.addresses import ASSOCIATED_TOKEN, LOOKUP_TABLE, SYSTEM, TOKEN, TOKEN_2022, WRAPPED_SOL
from tests.sweepapi.solana.swap_scene import Scene

STAKE = Pubkey.from_string("Stake11111111111111111111111111111111111111")
LOADER = Pubkey.from_string("BPFLoaderUpgradeab1e11111111111111111111111")
FUNDED_LAMPORTS = 10**9


def writable(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=False, is_writable=True)


def readonly(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=False, is_writable=False)


def signing(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=True, is_writable=False)


def call(program: Pubkey, data: bytes, changed: list[Pubkey], read: list[Pubkey], signer: Pubkey) -> Instruction:
    """Return an instruction whose accounts are these, in this order; the signer comes last."""
    return Instruction(program, data, [*map(writable, changed), *map(readonly, read), signing(signer)])


# Tokens


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


# Lamports, and accounts of other programs


def lamports(scene: Scene) -> list[Instruction]:
    return [system.transfer({"from_pubkey": scene.wallet, "to_pubkey": scene.thief, "lamports": 1})]


def wallet_assigned_to_a_program(scene: Scene) -> list[Instruction]:
    return [system.assign({"pubkey": scene.wallet, "owner": scene.thief})]


def wallet_given_data(scene: Scene) -> list[Instruction]:
    return [system.allocate({"pubkey": scene.wallet, "space": 8})]


def large_account(scene: Scene) -> list[Instruction]:
    return [_account_with_seed(scene, space=10_000, owner=scene.thief)]


def token_account_of_others_use(scene: Scene) -> list[Instruction]:
    """Create an account of the wallet that is not its associated one, with a close authority."""
    account = Pubkey.create_with_seed(scene.wallet, "seed", TOKEN)
    return [
        _account_with_seed(scene, space=165, owner=TOKEN),
        call(TOKEN, b"\x12" + bytes(scene.wallet), [account], [scene.kept], scene.wallet),
        call(TOKEN, bytes([6, 3, 1]) + bytes(scene.thief), [account], [], scene.wallet),
    ]


def _account_with_seed(scene: Scene, *, space: int, owner: Pubkey) -> Instruction:
    return system.create_account_with_seed(
        {
            "from_pubkey": scene.wallet,
            "to_pubkey": Pubkey.create_with_seed(scene.wallet, "seed", owner),
            "base": scene.wallet,
            "seed": "seed",
            "lamports": scene.rent(space),
            "space": space,
            "owner": owner,
        }
    )


def nonce_advanced(scene: Scene) -> list[Instruction]:
    nonce = scene.put(_nonce(scene), SYSTEM)
    return [call(SYSTEM, pack("<I", 4), [nonce], [RECENT_BLOCKHASHES], scene.wallet)]


def nonce_withdrawn(scene: Scene) -> list[Instruction]:
    nonce = scene.put(_nonce(scene), SYSTEM)
    data = pack("<IQ", 5, FUNDED_LAMPORTS // 2)
    return [call(SYSTEM, data, [nonce, scene.thief], [RECENT_BLOCKHASHES, RENT], scene.wallet)]


def nonce_authority(scene: Scene) -> list[Instruction]:
    nonce = scene.put(_nonce(scene), SYSTEM)
    return [call(SYSTEM, pack("<I32s", 7, bytes(scene.thief)), [nonce], [], scene.wallet)]


def _nonce(scene: Scene) -> bytes:
    """Return the data of a durable nonce of the wallet."""
    return pack("<II32s32sQ", 1, 1, bytes(scene.wallet), bytes(32), 5000)


def stake_authority(scene: Scene) -> list[Instruction]:
    keys = bytes(scene.wallet) * 2  # stakes and withdraws
    stake = scene.put(pack("<IQ64sqQ32s", 1, scene.rent(200), keys, 0, 0, bytes(32)).ljust(200, b"\0"), STAKE)
    return [call(STAKE, pack("<I32sI", 1, bytes(scene.thief), 1), [stake], [CLOCK], scene.wallet)]


def program_authority(scene: Scene) -> list[Instruction]:
    program = scene.put(pack("<IQB32s", 3, 0, 1, bytes(scene.wallet)) + bytes(100), LOADER)
    return [Instruction(LOADER, pack("<I", 4), [writable(program), signing(scene.wallet), readonly(scene.thief)])]


def lookup_table_deactivated(scene: Scene) -> list[Instruction]:
    table = scene.put(pack("<IQQBB32sH", 1, 2**64 - 1, 0, 0, 1, bytes(scene.wallet), 0), LOOKUP_TABLE)
    return [call(LOOKUP_TABLE, pack("<I", 3), [table], [], scene.wallet)]
