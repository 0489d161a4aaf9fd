"""The attempts of a hostile swap API are real: a taker who signs the answer as it is loses."""

import pytest
from solders.keypair import Keypair

from sweepapi import networks
from sweepapi.solana.swap_api import QuoteRequest, SwapApiQuote
from tests.solana_cluster import SolanaCluster
from tests.solana_swap_api import SwapMarket
from tests.swap_attacks import HOSTILE

AMOUNT = 10**6
# Without the second signature, the program or the lookup table, the cluster refuses these.
NOT_EXECUTABLE = {"another_signer", "unknown_program", "forged_lookup_table"}


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - NOT_EXECUTABLE))
def test_a_theft_executes_if_the_taker_signs_it(cluster: SolanaCluster, swap_api: SwapMarket, name: str) -> None:
    taker, thief = cluster.create_wallet(), Keypair().pubkey()
    mint = swap_api.create_token()
    cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT + 1)
    for received in {cluster.usdc} if name == "rent_for" else {cluster.usdc, mint}:
        cluster.faucet.create_account(thief, received)
    swap_api.api.alter = HOSTILE[name](thief)
    quote = quote_of(cluster, taker, str(mint))
    landed = cluster.send(cluster.sign(taker, [*quote.setup, quote.swap, *quote.other]))
    assert landed.outcome.err is None, landed.outcome.logs


def quote_of(cluster: SolanaCluster, taker: Keypair, mint: str) -> SwapApiQuote:
    (quote,) = networks.current().swap_api.quotes(
        [
            QuoteRequest(
                input_mint=mint,
                output_mint=str(cluster.usdc),
                amount=AMOUNT,
                taker=str(taker.pubkey()),
                slippage_bps=50,
                platform_fee_bps=75,
                fee_account=str(cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc)),
            )
        ]
    )
    assert isinstance(quote, SwapApiQuote)
    return quote
