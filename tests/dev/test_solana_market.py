"""The local world's cluster starts with what `make dev` and the demo need: wallets with tokens, and fee accounts."""

from collections import Counter
from pathlib import Path

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from spl.token.constants import TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT
from spl.token.instructions import get_associated_token_address

from dev.solana.bank import GENESIS_HASH, Bank
from dev.solana.clusters_file import CLUSTER, render
from dev.solana.history.balances import is_token_account, mint_of, owner_of
from dev.solana.market import TOKENS, mints, open_market
from sweepapi.solana.cluster.clusters import load_clusters


@pytest.fixture(scope="module")
def wallets() -> dict[str, Pubkey]:
    return {name: Keypair().pubkey() for name in ("fee wallet", "maker", "first user", "second user")}


@pytest.fixture(scope="module")
def bank(wallets: dict[str, Pubkey]) -> Bank:
    market = Bank()
    users = [wallets["first user"], wallets["second user"]]
    open_market(market, fee_wallet=wallets["fee wallet"], maker=wallets["maker"], users=users)
    return market


def held(bank: Bank, wallet: Pubkey) -> dict[str, int]:
    """Return the balances of a wallet's token accounts by symbol."""
    symbols = {mint: symbol for symbol, (mint, _) in mints().items()}
    programs = (TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID)
    accounts = [account for program in programs for _, account in bank.svm.get_program_accounts(program)]
    owned = [account for account in accounts if is_token_account(account) and owner_of(account) == wallet]
    return {symbols[mint_of(account)]: int.from_bytes(account.data[64:72], "little") for account in owned}


def test_each_user_has_four_tokens_to_sweep_an_empty_account_and_a_taxed_token(
    bank: Bank, wallets: dict[str, Pubkey]
) -> None:
    expected = {token.symbol: token.user_amount for token in TOKENS if token.user_amount is not None}
    assert Counter(amount == 0 for amount in expected.values()) == {False: 5, True: 1}
    for user in ("first user", "second user"):
        assert held(bank, wallets[user]) == expected
        assert bank.svm.get_balance(wallets[user]) == 10 * 10**9


def test_the_fee_wallet_has_an_account_for_each_output_token(
    bank: Bank, wallets: dict[str, Pubkey], tmp_path: Path
) -> None:
    (tmp_path / "clusters.toml").write_text(render(str(GENESIS_HASH)))
    cluster = load_clusters(tmp_path / "clusters.toml")[CLUSTER]
    assert cluster.genesis_hash == str(GENESIS_HASH)
    assert [token.symbol for token in cluster.output_tokens] == ["USDC", "SOL"]
    for token in cluster.output_tokens:
        mint = Pubkey.from_string(token.mint)
        assert bank.account(get_associated_token_address(wallets["fee wallet"], mint)) is not None
    assert held(bank, wallets["fee wallet"]) == {"USDC": 0, "SOL": 0}


def test_the_maker_has_more_of_every_token_than_users_can_buy(bank: Bank, wallets: dict[str, Pubkey]) -> None:
    assert held(bank, wallets["maker"]) == dict.fromkeys(mints(), 10**15)


def test_the_mints_have_the_same_addresses_in_every_run(bank: Bank) -> None:
    assert mints()["SOL"] == (WRAPPED_SOL_MINT, 9)
    assert str(mints()["USDC"][0]) == "HVLHKrZL8jYWh7M1rwJGeDVpotaT1DRqS65gyusoU8ih"
    assert all(bank.account(mint) is not None for mint, _ in mints().values())
