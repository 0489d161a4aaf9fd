"""What was packed, simulated and checked does the same when it is signed and sent."""

import pytest
from solders.transaction import VersionedTransaction

from sweepapi.solana.encoding.addresses import TOKEN
from sweepapi.solana.encoding.responses import accounts
from sweepapi.solana.packing.compute_budget import fee_lamports
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.lookup_tables import lookup_table
from sweepapi.solana.packing.packing import Disposal, SwapLeg, pack
from tests.solana_cluster import SolanaCluster
from tests.sweepapi.solana.swap_scene import BOUGHT, FEE, MINIMUM, Scene

UNIT_LIMIT, UNIT_PRICE = 200_000, 1_000


@pytest.fixture
def scene(cluster: SolanaCluster) -> Scene:
    return Scene(cluster)


def test_a_packed_transaction_lands_and_does_what_was_simulated(cluster: SolanaCluster, scene: Scene) -> None:
    instructions = scene.honest()
    used = [account.pubkey for each in instructions for account in each.accounts if not account.is_signer]
    key = cluster.faucet.create_lookup_table(used)
    [held] = accounts(1)(cluster.rpc("getMultipleAccounts", [str(key)], {"encoding": "base64"}))
    closing = scene.close(scene.sold_account, scene.wallet)
    leg = SwapLeg(tuple(instructions), MINIMUM, None, [closing], (lookup_table(key, held),))
    output = Output(
        wallet=scene.wallet, mint=cluster.usdc, program=TOKEN, decimals=6, fee_account=scene.fee_account, held=0
    )
    rents = cluster.lamports(scene.sold_account) + cluster.lamports(scene.empty_account)
    before = cluster.lamports(scene.wallet)
    expected = scene.effects(instructions)

    [packed] = pack(output, [leg], disposals=[Disposal([scene.close(scene.empty_account, scene.wallet)])])
    blockhash = cluster.bank.blocks.latest.blockhash
    message = packed.message(blockhash, unit_limit=UNIT_LIMIT, unit_price=UNIT_PRICE)
    landed = cluster.send(VersionedTransaction(message, [scene.keypair]))

    assert landed.outcome.err is None
    assert len(bytes(landed.transaction)) == packed.size
    assert [table.key for table in packed.lookup_tables] == [key]
    assert packed.reference in landed.keys.all
    assert cluster.token_balance(scene.wallet, cluster.usdc) == expected.user_gain == BOUGHT - FEE
    assert cluster.token_balance(cluster.fee_wallet, cluster.usdc) == expected.fee_gain == FEE
    assert [cluster.lamports(scene.sold_account), cluster.lamports(scene.empty_account)] == [0, 0]
    paid = fee_lamports(unit_limit=UNIT_LIMIT, unit_price=UNIT_PRICE) + scene.rent(165)  # of the new account
    assert cluster.lamports(scene.wallet) == before + rents - paid
