"""What a hostile swap API can add to an honest swap, and what stops it.

Each attempt is made twice: as an instruction of the swap API, and as if an allowed program did the same inside,
which only the simulation shows.
"""

from collections.abc import Callable

import pytest
from solders.instruction import Instruction

from sweepapi.solana.encoding.errors import UnsafeSwapError
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.solana import account_attempts as accounts
from tests.sweepapi.solana import price_attempts as prices
from tests.sweepapi.solana import token_attempts as tokens
from tests.sweepapi.solana.swap_scene import Scene

Attempt = Callable[[Scene], list[Instruction]]
CALLS, TOKEN_CALLS = "calls the program", "calls a token program's instruction"
# What is attempted, what the inspection says to it, and what the simulation shows.
ATTEMPTS: dict[str, tuple[Attempt, str, str]] = {
    "transfer another token": (tokens.another_token, "transfers 1 of", "takes 1 of"),
    "transfer another token, unchecked": (tokens.another_token_unchecked, "transfers 500 of", "takes 500 of"),
    "sell more in small parts": (
        tokens.more_in_small_parts,
        "of which 1000 are swept",
        "of which 1000 are swept",
    ),
    "transfer with a transfer fee": (tokens.transfer_with_fee, TOKEN_CALLS, "takes 500 of"),
    "burn": (tokens.burn, TOKEN_CALLS, "takes 1 of"),
    "approve a delegate": (tokens.approval, TOKEN_CALLS, "changes who may use"),
    "approve a delegate, checked": (tokens.checked_approval, TOKEN_CALLS, "changes who may use"),
    "approve a delegate of the output": (tokens.approval_of_the_output, TOKEN_CALLS, "lets others use the new"),
    "set a close authority of the output": (
        tokens.close_authority_of_the_output,
        TOKEN_CALLS,
        "lets others use the new",
    ),
    "raise an old approval": (tokens.larger_approval_of_an_old_delegate, TOKEN_CALLS, "changes who may use"),
    "set another owner": (tokens.ownership, TOKEN_CALLS, "away from the wallet"),
    "set a close authority": (tokens.close_authority, TOKEN_CALLS, "changes who may use"),
    "close to another destination": (tokens.rent_of_an_empty_account, "closes the account", "closes the token"),
    "close what was not to be": (
        tokens.closing_of_an_empty_account_for_the_wallet,
        "closes the account",
        "closes the token",
    ),
    "unwrap SOL for another": (tokens.wrapped_sol, "in favor of", "closes the token"),
    "mint the wallet's token": (tokens.new_tokens_of_the_wallets_mint, TOKEN_CALLS, "wallet is an authority"),
    "set another mint authority": (tokens.mint_authority, TOKEN_CALLS, "wallet is an authority"),
    "pay for another's account": (
        tokens.another_owner_of_a_new_account,
        "creates a token account of",
        "lamports",
    ),
    "enable the CPI guard": (tokens.guard_against_programs, TOKEN_CALLS, "changes who may use"),
    "withdraw withheld fees of an account": (tokens.withheld_fees, TOKEN_CALLS, "takes withheld fees"),
    "withdraw withheld fees of a mint": (
        tokens.withheld_fees_of_the_mint,
        TOKEN_CALLS,
        "wallet is an authority",
    ),
    "freeze another's account": (tokens.anothers_account_frozen, TOKEN_CALLS, "freezes or thaws"),
    "withdraw excess lamports": (tokens.excess_lamports, TOKEN_CALLS, "lamports"),
    "transfer lamports": (accounts.lamports, CALLS, "takes 5001 lamports, for a fee of 5000"),
    "assign the wallet to a program": (accounts.wallet_assigned_to_a_program, CALLS, "assigns the wallet"),
    "give the wallet data": (accounts.wallet_given_data, CALLS, "assigns the wallet"),
    "create a large account": (accounts.large_account, CALLS, "lamports"),
    "create an account that others use": (
        accounts.token_account_of_others_use,
        CALLS,
        "not an associated account",
    ),
    "advance a durable nonce": (accounts.nonce_advanced, CALLS, "an account of the program 1111"),
    "withdraw from a nonce": (accounts.nonce_withdrawn, CALLS, "an account of the program 1111"),
    "set another nonce authority": (accounts.nonce_authority, CALLS, "an account of the program 1111"),
    "set another stake authority": (accounts.stake_authority, CALLS, "an account of the program Stake"),
    "set another program authority": (accounts.program_authority, CALLS, "an account of the program BPFLoader"),
    "deactivate a lookup table": (
        accounts.lookup_table_deactivated,
        CALLS,
        "an account of the program AddressLookup",
    ),
}

# What no program could do for the swap API, so that only the inspection meets it.
INSTRUCTIONS: dict[str, tuple[Attempt, str]] = {
    "transfer confidentially": (tokens.confidential_transfer, TOKEN_CALLS),
    "recover a nested account": (tokens.recovery_of_a_nested_account, "something other than creating an account"),
    "have another sign": (accounts.second_signer, "needs the signature of"),
    "raise the priority fee": (accounts.priority_fee, "calls the program ComputeBudget"),
    "call a program of its own": (accounts.program_of_the_thief, CALLS),
}
# What each instruction alone may do, so that only the simulation shows that the swap is not the one that was agreed.
PRICES: dict[str, tuple[Attempt, str]] = {
    "pay less than the minimum": (prices.less_than_the_minimum, "receives 9799, less than the minimum 9800"),
    "pay nothing": (prices.nothing, "receives 0, less than the minimum 9800"),
    "pay another": (prices.output_for_another, "receives 0, less than the minimum 9800"),
    "pay the fee to another account": (prices.fee_for_another, "the fee account receives 0 of 9900, not 100 bps"),
    "take a lower fee": (prices.lower_fee, "the fee account receives 97 of 9997"),
    "take a higher fee": (prices.higher_fee, "the fee account receives 103 of 10003"),
    "create accounts that are not needed": (prices.many_accounts, "creates 5 token accounts for 1 swaps"),
    "pay too much rent": (prices.too_much_rent, "more rent than the new token account"),
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


@pytest.mark.parametrize(("attempt", "reason"), INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_the_inspection_alone_stops(scene: Scene, attempt: Attempt, reason: str) -> None:
    hostile = attempt(scene)

    with pytest.raises(UnsafeSwapError, match=reason):
        scene.inspect([*scene.honest(), *hostile])


@pytest.mark.parametrize(("attempt", "reason"), PRICES.values(), ids=PRICES)
def test_the_simulation_alone_stops(scene: Scene, attempt: Attempt, reason: str) -> None:
    with pytest.raises(UnsafeSwapError, match=reason):
        scene.effects(attempt(scene))
