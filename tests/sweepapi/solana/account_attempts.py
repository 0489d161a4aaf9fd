"""What a thief would add to an honest swap to reach the wallet itself, or its accounts in other programs."""

from struct import pack

from solders import system_program as system
from solders.compute_budget import set_compute_unit_price
from solders.instruction import Instruction
from solders.pubkey import Pubkey
from solders.sysvar import CLOCK, RECENT_BLOCKHASHES, RENT

from sweepapi.solana.encoding.addresses import LOOKUP_TABLE, SYSTEM, TOKEN
from tests.sweepapi.solana.calls import call, readonly, signing, writable
from tests.sweepapi.solana.swap_scene import Scene

STAKE = Pubkey.from_string("Stake11111111111111111111111111111111111111")
LOADER = Pubkey.from_string("BPFLoaderUpgradeab1e11111111111111111111111")
FUNDED_LAMPORTS = 10**9


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


def second_signer(scene: Scene) -> list[Instruction]:
    return [call(TOKEN, b"\x11", [scene.kept_account], [], scene.thief)]


def priority_fee(_scene: Scene) -> list[Instruction]:
    return [set_compute_unit_price(10**9)]


def program_of_the_thief(scene: Scene) -> list[Instruction]:
    return [call(Pubkey.new_unique(), b"", [scene.kept_account], [], scene.wallet)]
