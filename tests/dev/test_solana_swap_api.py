"""The local swap API's quotes execute on the local cluster when the taker alone signs them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from solders.address_lookup_table_account import AddressLookupTable, AddressLookupTableAccount
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from spl.token.constants import TOKEN_2022_PROGRAM_ID, WRAPPED_SOL_MINT

from dev.ports import free_port
from dev.processes.waiting import wait_until
from dev.solana.history.records import Landed
from dev.solana.swap_api.maker import TWO_STEPS_ACCOUNTS
from sweepapi import networks
from sweepapi.solana.swap_api import NoQuote, QuoteRequest, SwapApiQuote
from tests.solana_cluster import SolanaCluster
from tests.solana_swap_api import MICRO, SwapMarket, client_at

AMOUNT = 2_000_000
SOL = 10**9
OWNER_MISMATCH = 4  # TokenError


@pytest.fixture
def taker(cluster: SolanaCluster) -> Keypair:
    return cluster.create_wallet()


def request_of(cluster: SolanaCluster, taker: Keypair, sold: Pubkey, bought: Pubkey | None = None) -> QuoteRequest:
    """Return a request to swap a token, to USDC if no other is given, with a platform fee."""
    bought = bought or cluster.usdc
    return QuoteRequest(
        input_mint=str(sold),
        output_mint=str(bought),
        amount=AMOUNT,
        taker=str(taker.pubkey()),
        slippage_bps=50,
        platform_fee_bps=75,
        fee_account=str(cluster.faucet.associated_account(cluster.fee_wallet, bought)),
    )


def quote_of(request: QuoteRequest) -> SwapApiQuote:
    (quote,) = networks.current().swap_api.quotes([request])
    assert isinstance(quote, SwapApiQuote)
    return quote


def instructions_of(quote: SwapApiQuote) -> list[Instruction]:
    return [*quote.setup, quote.swap, *quote.other, *([quote.cleanup] if quote.cleanup else [])]


def execute(cluster: SolanaCluster, taker: Keypair, quote: SwapApiQuote) -> Landed:
    """Land a quote's instructions in a transaction that the taker alone signs."""
    landed = cluster.send(cluster.sign(taker, instructions_of(quote)))
    assert landed.outcome.err is None, landed.outcome.logs
    return landed


@pytest.mark.parametrize("program", [None, TOKEN_2022_PROGRAM_ID])
def test_a_quote_pays_the_taker_and_the_fee_account_what_it_says(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair, program: Pubkey | None
) -> None:
    mint = swap_api.create_token(decimals=6, micro_usd=3 * MICRO, **({"program": program} if program else {}))
    cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT + 7)
    quote = quote_of(request_of(cluster, taker, mint))
    assert quote.out_amount == 5_955_000
    assert quote.threshold == 5_925_225
    execute(cluster, taker, quote)
    assert cluster.token_balance(taker.pubkey(), cluster.usdc) == quote.out_amount
    assert cluster.token_balance(cluster.fee_wallet, cluster.usdc) == 45_000
    assert cluster.token_balance(taker.pubkey(), mint) == 7
    assert cluster.token_balance(swap_api.maker.key, mint) == AMOUNT


def test_a_quote_without_a_platform_fee_pays_the_taker_everything(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair
) -> None:
    mint = swap_api.create_token()
    cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT)
    quote = quote_of(replace(request_of(cluster, taker, mint), platform_fee_bps=0))
    execute(cluster, taker, quote)
    assert cluster.token_balance(taker.pubkey(), cluster.usdc) == quote.out_amount == AMOUNT


def test_a_route_through_another_token_never_gives_it_to_the_taker(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair
) -> None:
    mint = swap_api.create_token(through=WRAPPED_SOL_MINT)
    cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT)
    stock = cluster.token_balance(swap_api.maker.key, WRAPPED_SOL_MINT)
    quote = quote_of(request_of(cluster, taker, mint))
    assert quote.labels == ("Local maker", "Local maker")
    execute(cluster, taker, quote)
    assert cluster.token_balance(taker.pubkey(), cluster.usdc) == quote.out_amount == AMOUNT - 15_000
    assert cluster.token_balance(taker.pubkey(), WRAPPED_SOL_MINT) == 0
    assert cluster.token_balance(swap_api.maker.key, WRAPPED_SOL_MINT) == stock


def test_a_route_of_few_accounts_is_direct(cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair) -> None:
    request = request_of(cluster, taker, swap_api.create_token(through=WRAPPED_SOL_MINT))
    most = len({account.pubkey for one in instructions_of(quote_of(request))[1:] for account in one.accounts})
    assert most + 1 <= TWO_STEPS_ACCOUNTS
    direct = quote_of(replace(request, max_accounts=TWO_STEPS_ACCOUNTS - 1))
    assert direct.labels == ("Local maker",)


def test_a_taker_who_buys_sol_receives_it_unwrapped(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair
) -> None:
    mint = swap_api.create_token(micro_usd=300 * MICRO)
    cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT)
    quote = quote_of(request_of(cluster, taker, mint, WRAPPED_SOL_MINT))
    before = cluster.lamports(taker.pubkey())
    landed = execute(cluster, taker, quote)
    assert cluster.lamports(taker.pubkey()) - before + landed.outcome.fee == quote.out_amount == 3_970_000_000
    assert cluster.token_balance(taker.pubkey(), WRAPPED_SOL_MINT) == 0
    assert cluster.token_balance(cluster.fee_wallet, WRAPPED_SOL_MINT) == 30_000_000


@pytest.mark.usefixtures("swap_api")
def test_wrapped_sol_is_sold_from_its_token_account(cluster: SolanaCluster, taker: Keypair) -> None:
    cluster.faucet.give_tokens(taker.pubkey(), WRAPPED_SOL_MINT, SOL)
    quote = quote_of(replace(request_of(cluster, taker, WRAPPED_SOL_MINT), amount=SOL))
    execute(cluster, taker, quote)
    assert cluster.token_balance(taker.pubkey(), WRAPPED_SOL_MINT) == 0
    assert cluster.token_balance(taker.pubkey(), cluster.usdc) == quote.out_amount == 148_875_000


def test_a_quote_is_for_its_taker_only(cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair) -> None:
    payment = quote_of(request_of(cluster, taker, swap_api.create_token())).other[0]
    stranger = cluster.create_wallet()
    cluster.faucet.create_account(taker.pubkey(), cluster.usdc)
    signed_by_stranger = [*payment.accounts[:3], AccountMeta(stranger.pubkey(), is_signer=True, is_writable=False)]
    stolen = Instruction(payment.program_id, payment.data, signed_by_stranger)
    landed = cluster.send(cluster.sign(stranger, [stolen]))
    assert landed.outcome.err == {"InstructionError": [0, {"Custom": OWNER_MISMATCH}]}


def test_quotes_of_many_tokens_execute_in_one_transaction_with_a_lookup_table(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair
) -> None:
    mints = [swap_api.create_token() for _ in range(6)]
    for mint in mints:
        cluster.faucet.give_tokens(taker.pubkey(), mint, AMOUNT)
    table = swap_api.add_lookup_table()
    quotes = networks.current().swap_api.quotes([request_of(cluster, taker, mint) for mint in mints])
    instructions = [each for quote in quotes if isinstance(quote, SwapApiQuote) for each in instructions_of(quote)]
    assert {quote.lookup_tables for quote in quotes if isinstance(quote, SwapApiQuote)} == {(str(table),)}
    content = cluster.bank.account(table)
    assert content is not None
    addresses = AddressLookupTable.deserialize(content.data).addresses
    transaction = cluster.sign(taker, instructions, [AddressLookupTableAccount(table, addresses)])
    assert len(bytes(transaction)) <= 1232 < len(bytes(cluster.sign(taker, instructions)))
    assert cluster.send(transaction).outcome.err is None
    assert cluster.token_balance(taker.pubkey(), cluster.usdc) == 6 * (AMOUNT - 15_000)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"amount": 1, "output_mint": str(WRAPPED_SOL_MINT), "platform_fee_bps": 0}, "The amount is too small"),
        ({"input_mint": str(Pubkey.new_unique())}, "No routes found"),
        ({"fee_account": str(Pubkey.new_unique())}, "feeAccount is not a token account of outputMint"),
    ],
)
def test_an_order_that_the_maker_does_not_fill_is_refused(
    cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair, changes: dict[str, object], reason: str
) -> None:
    mint = swap_api.create_token(decimals=9, micro_usd=1)
    request = replace(request_of(cluster, taker, mint), **changes)  # type: ignore[arg-type]
    assert networks.current().swap_api.quotes([request]) == [NoQuote(reason)]


def test_it_runs_as_a_process(cluster: SolanaCluster, swap_api: SwapMarket, taker: Keypair, tmp_path: Path) -> None:
    mint, port = swap_api.create_token(), free_port()
    facts = {
        "rpcUrl": cluster.url,
        "makerKey": str(swap_api.maker.keypair),
        "prices": {
            str(key): {"decimals": price.decimals, "microUsd": price.micro_usd, "through": None}
            for key, price in swap_api.prices.items()
        },
        "lookupTables": [],
    }
    (tmp_path / "maker.json").write_text(json.dumps(facts))
    argv = [sys.executable, "-m", "dev.solana.swap_api", str(port), str(tmp_path / "maker.json")]
    process = subprocess.Popen(argv)
    try:
        wait_until(lambda: _answers(port), within_seconds=60, what="the swap API")
        client = client_at(f"http://127.0.0.1:{port}", timeout_seconds=10)
        (quote,) = client.quotes([request_of(cluster, taker, mint)])
    finally:
        process.terminate()
        process.wait()
    assert isinstance(quote, SwapApiQuote)


def _answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/build", timeout=10).status_code == 401
    except requests.ConnectionError:
        return False
