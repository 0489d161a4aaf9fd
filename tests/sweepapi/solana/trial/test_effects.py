"""What a simulated transaction gives and takes: honest ones pass with their amounts, and bad prices or fees do not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from solders.instruction import Instruction
from solders.system_program import transfer

from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN_2022, WRAPPED_SOL
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.trial.effects import Effects, check_effects
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.solana.swap_scene import BOUGHT, FEE, MINIMUM, SOLD, Scene

HONEST = Effects(BOUGHT - FEE, FEE, LAMPORTS_PER_SIGNATURE, 0)


@pytest.fixture
def scene(cluster: SolanaCluster) -> Scene:
    return Scene(cluster)


def to_sol(scene: Scene) -> list[Instruction]:
    """Sell for SOL, as the swap API does it: through a wrapped account that is closed afterwards."""
    wrapped = scene.account(scene.wallet, WRAPPED_SOL)
    return [
        scene.create_account(WRAPPED_SOL),
        scene.sell(SOLD),
        scene.buy(BOUGHT - FEE, mint=WRAPPED_SOL),
        scene.pay_fee(mint=WRAPPED_SOL),
        scene.close(wrapped, scene.wallet),
    ]


def sol_effects(scene: Scene, instructions: Sequence[Instruction], **changed: object) -> Effects:
    fee_account = scene.account(scene.cluster.fee_wallet, WRAPPED_SOL)
    return scene.effects(instructions, output_mint=WRAPPED_SOL, fee_account=fee_account, **changed)


def test_an_honest_swap_moves_what_was_agreed(scene: Scene) -> None:
    instructions = scene.honest()

    scene.inspect(instructions)

    assert scene.effects(instructions) == HONEST


def test_the_output_may_reach_an_account_that_exists_and_holds_some(scene: Scene) -> None:
    scene.faucet.give_tokens(scene.wallet, scene.cluster.usdc, 77)

    assert scene.effects(scene.honest()) == HONEST


def test_a_swap_to_sol_gives_lamports(scene: Scene) -> None:
    instructions = to_sol(scene)

    scene.inspect(instructions)

    assert sol_effects(scene, instructions) == HONEST


def test_wrapped_sol_that_a_swap_to_sol_unwraps_is_not_counted_as_its_output(scene: Scene) -> None:
    scene.faucet.give_tokens(scene.wallet, WRAPPED_SOL, 10**9)

    assert sol_effects(scene, to_sol(scene)) == HONEST


def test_wrapped_sol_is_swept_like_any_token(scene: Scene) -> None:
    wrapped = scene.faucet.give_tokens(scene.wallet, WRAPPED_SOL, 10**9)
    scene.faucet.create_account(scene.maker, WRAPPED_SOL)
    sold = scene.move(wrapped, scene.account(scene.maker, WRAPPED_SOL), WRAPPED_SOL, 10**9)

    effects = scene.effects([*scene.honest(), sold], swept={**scene.swept, wrapped: 10**9})

    assert effects == HONEST


def test_wrapped_sol_that_is_not_swept_stays(scene: Scene) -> None:
    wrapped = scene.faucet.give_tokens(scene.wallet, WRAPPED_SOL, 10**9)

    with pytest.raises(UnsafeSwapError, match="closes the token account"):
        scene.effects([*scene.honest(), scene.close(wrapped, scene.wallet)])


def test_rent_that_comes_back_is_not_output_in_sol(scene: Scene) -> None:
    instructions = [*to_sol(scene), scene.close(scene.empty_account, scene.wallet)]

    closed = frozenset([scene.sold_account, scene.empty_account])

    assert sol_effects(scene, instructions, closed=closed) == HONEST


def test_lamports_that_a_swap_to_sol_takes_count_against_its_output(scene: Scene) -> None:
    stolen = BOUGHT - FEE - MINIMUM + 1
    theft = transfer({"from_pubkey": scene.wallet, "to_pubkey": scene.thief, "lamports": stolen})

    with pytest.raises(UnsafeSwapError, match=f"receives {MINIMUM - 1}, less than the minimum {MINIMUM}"):
        sol_effects(scene, [*to_sol(scene), theft])


def test_a_token_2022_account_with_extensions_is_created_for_the_wallet(scene: Scene) -> None:
    """Its mint takes a fee of every transfer, so the account has room for it, and costs more rent."""
    scene.create_extended_mint()
    scene.faucet.create_account(scene.thief, scene.extended)

    effects = scene.effects([*scene.honest(), scene.create_account(scene.extended, TOKEN_2022)])

    assert effects == HONEST


def test_a_route_may_create_the_accounts_between_its_steps(scene: Scene) -> None:
    others = [scene.create_account(scene.faucet.create_mint(6)) for _ in range(3)]

    assert scene.effects([*scene.honest(), *others]) == HONEST


def test_lamports_under_the_key_of_a_new_account_do_no_harm(scene: Scene) -> None:
    scene.faucet.give_lamports(scene.account(scene.wallet, scene.cluster.usdc), 10**7)

    assert scene.effects(scene.honest()).user_gain == BOUGHT - FEE


@pytest.mark.parametrize("fee", [FEE - 1, FEE + 1])
def test_each_leg_may_round_its_fee(scene: Scene, fee: int) -> None:
    instructions = [*scene.honest()[:-1], scene.buy(fee, recipient=scene.cluster.fee_wallet)]

    assert scene.effects(instructions).fee_gain == fee


def test_an_account_that_was_anothers_does_not_become_the_wallets(scene: Scene) -> None:
    """Its former owner could have left a delegate or a close authority behind."""
    key = scene.faucet.create_account(scene.wallet, scene.cluster.usdc)
    before, simulation = scene.simulate(scene.honest())
    held = before[key]
    assert held is not None
    before[key] = replace(held, data=held.data[:32] + bytes(scene.thief) + held.data[64:])

    with pytest.raises(UnsafeSwapError, match="makes the wallet the owner of"):
        check_effects(before, simulation.accounts, scene.terms())


def test_a_wallet_that_is_not_a_plain_account_is_refused(scene: Scene) -> None:
    wallet = {scene.wallet: ClusterAccount(10**9, SYSTEM, b"nonce", executable=False)}

    with pytest.raises(UnsafeSwapError, match="assigns the wallet"):
        check_effects(wallet, wallet, scene.terms())
