"""What a build composed, sent by the user, is recognized and booked by the worker with what its simulation showed."""

import pytest
from solders.pubkey import Pubkey

from dev.solana.faucet import LAMPORTS_PER_SOL
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from tests.solana_cluster import SolanaCluster
from tests.solana_swap_api import SwapMarket
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["USDC", "SOL"])
def output(request: pytest.FixtureRequest, cluster: SolanaCluster) -> Pubkey:
    return cluster.usdc if request.param == "USDC" else WRAPPED_SOL


def test_a_sweep_that_the_wallet_rewrites_in_version_1_completes(user: SolanaUser, swap_api: SwapMarket) -> None:
    swap_api.add_lookup_table()
    built = user.build({user.hold(150 * DOLLAR): 150 * DOLLAR for _ in range(4)})
    user.send(built, version=1)
    sweep = looked_at()
    assert (sweep.status, sweep.flags) == ("completed", [])
    assert sum(one.amounts.gross_output for one in sweep.executions.all()) == int(built["estimatedOutput"]["gross"])


@pytest.mark.parametrize("held", [0, 3 * LAMPORTS_PER_SOL], ids=["holds none", "holds some"])
@pytest.mark.parametrize("count", [1, 10])
def test_a_sweep_that_was_built_and_sent_completes(
    user: SolanaUser, swap_api: SwapMarket, output: Pubkey, held: int, count: int
) -> None:
    if held:
        user.cluster.faucet.give_tokens(user.key, output, held)
    tokens = {user.hold(150 * DOLLAR): 150 * DOLLAR for _ in range(count)}
    swap_api.add_lookup_table()

    built = user.build(tokens, output_asset=str(output))
    user.send(built)
    sweep = looked_at()

    assert (sweep.status, sweep.flags) == ("completed", [])
    booked = [execution.amounts for execution in sweep.executions.all()]
    assert len(booked) == len(built["transactions"])
    assert sum(amounts.gross_output for amounts in booked) == int(built["estimatedOutput"]["gross"])
    user.cluster.finalize()
    assert not looked_at().is_open
