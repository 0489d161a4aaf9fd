"""Swaps of instructions that are all allowed, but give less than was agreed: each function returns the whole swap."""

from solders.instruction import Instruction
from solders.system_program import transfer

from tests.sweepapi.solana.swap_scene import BOUGHT, FEE, MINIMUM, SOLD, Scene


def less_than_the_minimum(scene: Scene) -> list[Instruction]:
    return [scene.create_account(scene.cluster.usdc), scene.sell(SOLD), scene.buy(MINIMUM - 1), scene.pay_fee()]


def nothing(scene: Scene) -> list[Instruction]:
    return [scene.create_account(scene.cluster.usdc), scene.sell(SOLD)]


def output_for_another(scene: Scene) -> list[Instruction]:
    return [scene.sell(SOLD), scene.buy(BOUGHT - FEE, recipient=scene.thief), scene.pay_fee()]


def fee_for_another(scene: Scene) -> list[Instruction]:
    return [*scene.honest()[:-1], scene.pay_fee(scene.thief)]


def lower_fee(scene: Scene) -> list[Instruction]:
    return [*scene.honest()[:-1], scene.buy(FEE - 3, recipient=scene.cluster.fee_wallet)]


def higher_fee(scene: Scene) -> list[Instruction]:
    return [*scene.honest()[:-1], scene.buy(FEE + 3, recipient=scene.cluster.fee_wallet)]


def many_accounts(scene: Scene) -> list[Instruction]:
    return [*scene.honest(), *(scene.create_account(scene.faucet.create_mint(6)) for _ in range(4))]


def too_much_rent(scene: Scene) -> list[Instruction]:
    account = scene.account(scene.wallet, scene.cluster.usdc)
    return [*scene.honest(), transfer({"from_pubkey": scene.wallet, "to_pubkey": account, "lamports": 1})]
