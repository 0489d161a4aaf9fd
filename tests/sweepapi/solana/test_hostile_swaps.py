"""What a hostile swap API can add to an honest swap, and what stops it.

Each attempt is made twice: as an instruction of the swap API, and as if an allowed program did the same inside,
which only the simulation shows.
"""

from collections.abc import Callable

import pytest
from solders.instruction import Instruction

from sweepapi.solana.errors import UnsafeSwapError
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.solana import attempts
from tests.sweepapi.solana.swap_scene import Scene

Attempt = Callable[[Scene], list[Instruction]]
CALLS, TOKEN_CALLS = "calls the program", "calls a token program's instruction"
# What is attempted, what the inspection says to it, and what the simulation shows.
ATTEMPTS: dict[str, tuple[Attempt, str, str]] = {
    "transfer another token": (attempts.another_token, "transfers 1 of", "takes 1 of"),
    "transfer another token, unchecked": (attempts.another_token_unchecked, "transfers 500 of", "takes 500 of"),
    "sell more in small parts": (attempts.more_in_small_parts, "of which 1000 are swept", "of which 1000 are swept"),
    "transfer with a transfer fee": (attempts.transfer_with_fee, TOKEN_CALLS, "takes 500 of"),
    "burn": (attempts.burn, TOKEN_CALLS, "takes 1 of"),
    "approve a delegate": (attempts.approval, TOKEN_CALLS, "changes who may use"),
    "approve a delegate, checked": (attempts.checked_approval, TOKEN_CALLS, "changes who may use"),
    "approve a delegate of the output": (attempts.approval_of_the_output, TOKEN_CALLS, "lets others use the new"),
    "set a close authority of the output": (
        attempts.close_authority_of_the_output,
        TOKEN_CALLS,
        "lets others use the new",
    ),
    "raise an old approval": (attempts.larger_approval_of_an_old_delegate, TOKEN_CALLS, "changes who may use"),
    "set another owner": (attempts.ownership, TOKEN_CALLS, "away from the wallet"),
    "set a close authority": (attempts.close_authority, TOKEN_CALLS, "changes who may use"),
    "close to another destination": (attempts.rent_of_an_empty_account, "closes the account", "closes the token"),
    "close what was not to be": (
        attempts.closing_of_an_empty_account_for_the_wallet,
        "closes the account",
        "closes the token",
    ),
    "unwrap SOL for another": (attempts.wrapped_sol, "in favor of", "closes the token"),
    "mint the wallet's token": (attempts.new_tokens_of_the_wallets_mint, TOKEN_CALLS, "wallet is an authority"),
    "set another mint authority": (attempts.mint_authority, TOKEN_CALLS, "wallet is an authority"),
    "pay for another's account": (attempts.another_owner_of_a_new_account, "creates a token account of", "lamports"),
    "enable the CPI guard": (attempts.guard_against_programs, TOKEN_CALLS, "changes who may use"),
    "withdraw withheld fees of an account": (attempts.withheld_fees, TOKEN_CALLS, "takes withheld fees"),
    "withdraw withheld fees of a mint": (attempts.withheld_fees_of_the_mint, TOKEN_CALLS, "wallet is an authority"),
    "freeze another's account": (attempts.anothers_account_frozen, TOKEN_CALLS, "freezes or thaws"),
    "withdraw excess lamports": (attempts.excess_lamports, TOKEN_CALLS, "lamports"),
    "transfer lamports": (attempts.lamports, CALLS, "takes 5001 lamports, for a fee of 5000"),
    "assign the wallet to a program": (attempts.wallet_assigned_to_a_program, CALLS, "assigns the wallet"),
    "give the wallet data": (attempts.wallet_given_data, CALLS, "assigns the wallet"),
    "create a large account": (attempts.large_account, CALLS, "lamports"),
    "create an account that others use": (attempts.token_account_of_others_use, CALLS, "not an associated account"),
    "advance a durable nonce": (attempts.nonce_advanced, CALLS, "an account of the program 1111"),
    "withdraw from a nonce": (attempts.nonce_withdrawn, CALLS, "an account of the program 1111"),
    "set another nonce authority": (attempts.nonce_authority, CALLS, "an account of the program 1111"),
    "set another stake authority": (attempts.stake_authority, CALLS, "an account of the program Stake"),
    "set another program authority": (attempts.program_authority, CALLS, "an account of the program BPFLoader"),
    "deactivate a lookup table": (attempts.lookup_table_deactivated, CALLS, "an account of the program AddressLookup"),
}


@pytest.fixture
def scene(cluster: SolanaCluster) -> Scene:
    return Scene(cluster)


@pytest.mark.parametrize(("attempt", "inspected", "_simulated"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_the_inspection_stops(scene: Scene, attempt: Attempt, inspected: str, _simulated: str) -> None:
    hostile = attempt(scene)

    with pytest.raises(UnsafeSwapError, match=inspected):
        scene.inspect([*scene.honest(), *hostile])


@pytest.mark.parametrize(("attempt", "_inspected", "simulated"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_the_simulation_stops(scene: Scene, attempt: Attempt, _inspected: str, simulated: str) -> None:
    hostile = attempt(scene)

    with pytest.raises(UnsafeSwapError, match=simulated):
        scene.effects([*scene.honest(), *hostile])
