"""What a build on Solana refuses, by which code, and that it stores nothing then."""

from collections.abc import Callable
from typing import Any

import pytest
from solders.account import Account
from solders.pubkey import Pubkey
from spl.token.instructions import create_idempotent_associated_token_account
from structlog.testing import capture_logs

from dev.solana import extensions
from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.swap_api.answers import instruction
from dev.solana.swap_api.server import Response
from partners.models import Partner
from sweepapi.api.input.field_codes import FIELD_CODES
from sweepapi.errors import (
    BuildDisabled,
    ChainUnavailable,
    InsufficientBalance,
    InvalidRequest,
    SwapUnavailable,
    SweepApiError,
    TokensRefused,
)
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN, TOKEN_2022
from sweeps.protocol.request import TokenInput
from tests.solana_cluster import SolanaCluster
from tests.solana_swap_api import SwapMarket
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

TOKEN_ACCOUNT_RENT = 2_039_280
WALLET_RENT = 890_880


def refused(user: SolanaUser, sold: dict[Pubkey, int], **fields: Any) -> tuple[type[SweepApiError], list[str]]:
    """Return the error of a build, and its details as `field code`."""
    with pytest.raises(SweepApiError) as caught:
        user.build(sold, **fields)
    assert {detail.code for detail in caught.value.details} <= FIELD_CODES.keys()
    return type(caught.value), [f"{detail.field} {detail.code}" for detail in caught.value.details]


# --- the wallet -------------------------------------------------------------------------------------------------------


def test_a_wallet_that_a_program_owns_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    for account in (Account(LAMPORTS_PER_SOL, b"", TOKEN), Account(LAMPORTS_PER_SOL, b"state", SYSTEM)):
        cluster.bank.set_account(user.key, account)
        assert refused(user, {mint: DOLLAR}) == (InvalidRequest, ["wallet not_a_wallet"])


def test_the_fee_wallet_is_refused(
    user: SolanaUser, cluster: SolanaCluster, change_networks: Callable[..., Networks]
) -> None:
    mint = user.hold()
    cluster.faucet.create_account(user.key, cluster.usdc)
    change_networks(fee_wallet=str(user.key))
    assert refused(user, {mint: DOLLAR}) == (InvalidRequest, ["wallet protocol_recipient"])


@pytest.mark.parametrize("lamports", [0, WALLET_RENT, TOKEN_ACCOUNT_RENT + 4_999])
def test_a_wallet_without_the_sol_for_fees_and_rent_is_refused(
    swap_api: SwapMarket, partner: Partner, lamports: int
) -> None:
    user = SolanaUser(swap_api, partner, lamports=lamports)
    assert refused(user, {user.hold(): DOLLAR}) == (InsufficientBalance, ["wallet insufficient_balance"])


def test_a_wallet_with_just_enough_sol_is_served(swap_api: SwapMarket, partner: Partner) -> None:
    user = SolanaUser(swap_api, partner, lamports=TOKEN_ACCOUNT_RENT + 5_000)
    mint = user.hold()
    planned = user.plan({mint: 5 * DOLLAR})
    assert planned.network_fee_lamports == 5_000


def test_a_wallet_needs_only_the_rent_that_the_cluster_takes_now(
    swap_api: SwapMarket, partner: Partner, cluster: SolanaCluster
) -> None:
    cluster.set_rent(lamports_per_byte=5_080)
    rent = 293 * 5_080  # of a token account's 165 bytes, and of the 128 that every account pays for
    user = SolanaUser(swap_api, partner, lamports=rent + 5_000)
    assert user.plan({user.hold(): 5 * DOLLAR}).rent_lamports == rent


def test_accounts_on_the_route_that_the_wallet_can_not_pay_are_refused(
    swap_api: SwapMarket, partner: Partner, cluster: SolanaCluster
) -> None:
    user = SolanaUser(swap_api, partner, lamports=TOKEN_ACCOUNT_RENT + 5_000)
    mint, passed = user.hold(), cluster.faucet.create_mint(6)
    create = instruction(create_idempotent_associated_token_account(user.key, user.key, passed))
    swap_api.api.alter = lambda _query, body: {**body, "setupInstructions": [*body["setupInstructions"], create]}
    assert refused(user, {mint: 5 * DOLLAR}) == (InsufficientBalance, ["wallet insufficient_balance"])


# --- the tokens -------------------------------------------------------------------------------------------------------


def test_more_than_the_wallet_holds_is_refused(user: SolanaUser) -> None:
    short, enough, none = user.hold(), user.hold(), user.market.create_token()
    sold = {short: 5 * DOLLAR + 1, enough: 5 * DOLLAR, none: 1}
    assert refused(user, sold) == (
        TokensRefused,
        ["tokens[0].mint insufficient_balance", "tokens[2].mint insufficient_balance"],
    )


def test_what_is_not_a_mint_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    account = cluster.faucet.associated_account(user.key, user.hold())
    sold = {user.hold(): DOLLAR, Pubkey.new_unique(): DOLLAR, user.key: DOLLAR, account: DOLLAR}
    assert refused(user, sold) == (TokensRefused, [f"tokens[{i}].mint not_a_token" for i in (1, 2, 3)])


def test_decimals_that_contradict_the_chain_are_refused(user: SolanaUser) -> None:
    right, wrong = user.hold(decimals=6), user.hold(decimals=9)
    tokens = [TokenInput(str(right), 1, decimals=6), TokenInput(str(wrong), 1, decimals=6)]
    assert refused(user, {}, tokens=tokens) == (InvalidRequest, ["tokens[1].decimals contradicts_chain"])


def test_a_frozen_account_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    cluster.faucet.freeze(cluster.faucet.associated_account(user.key, mint), mint)
    assert refused(user, {mint: DOLLAR}) == (TokensRefused, ["tokens[0].mint frozen"])


@pytest.mark.parametrize(
    ("extension", "code"),
    [
        (extensions.transfer_hook(TOKEN), "transfer_hook"),
        (extensions.non_transferable(), "non_transferable"),
    ],
)
def test_a_token_that_restricts_transfers_is_refused(
    user: SolanaUser, extension: extensions.Extension, code: str
) -> None:
    mint = user.market.create_token(program=TOKEN_2022, extensions=[extension])
    assert refused(user, {mint: DOLLAR}) == (TokensRefused, [f"tokens[0].mint {code}"])


def extend(cluster: SolanaCluster, key: Pubkey, value: bytes) -> None:
    """Append an extension to a mint or token account of Token-2022."""
    account = cluster.bank.account(key)
    assert account is not None
    cluster.bank.set_account(key, Account(account.lamports, account.data + value, account.owner))


def test_an_account_that_refuses_programs_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold(program=TOKEN_2022)
    extend(cluster, cluster.faucet.associated_account(user.key, mint), b"\x0b\0\x01\0" + b"\x01")
    assert refused(user, {mint: DOLLAR}) == (TokensRefused, ["tokens[0].mint refuses_programs"])


def test_a_paused_token_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold(program=TOKEN_2022, extensions=[extensions.transfer_fee(0)])
    extend(cluster, mint, b"\x1a\0\x21\0" + bytes(32) + b"\x01")
    assert refused(user, {mint: DOLLAR}) == (TokensRefused, ["tokens[0].mint paused"])


def test_a_balance_outside_of_the_associated_account_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.market.create_token()
    cluster.faucet.mint_to(cluster.faucet.create_other_account(user.key, mint), mint, DOLLAR)
    assert refused(user, {mint: DOLLAR}) == (TokensRefused, ["tokens[0].mint not_associated"])


def test_a_token_that_the_swap_api_does_not_trade_has_no_route(user: SolanaUser, cluster: SolanaCluster) -> None:
    unknown = cluster.faucet.create_mint(6)
    cluster.faucet.give_tokens(user.key, unknown, DOLLAR)
    assert refused(user, {user.hold(): DOLLAR, unknown: DOLLAR}) == (TokensRefused, ["tokens[1].mint no_route"])


def test_a_minimum_output_of_nothing_is_refused(user: SolanaUser) -> None:
    assert refused(user, {user.hold(): 1}, slippage_bps=10_000) == (
        TokensRefused,
        ["tokens[0].mint output_too_small"],
    )


# --- the output -------------------------------------------------------------------------------------------------------


def test_another_output_than_the_configured_ones_is_refused(user: SolanaUser) -> None:
    mint, other = user.hold(), user.market.create_token()
    assert refused(user, {mint: DOLLAR}, output_asset=str(other)) == (InvalidRequest, ["outputMint unsupported"])


def test_a_frozen_output_account_is_refused(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    cluster.faucet.freeze(cluster.faucet.create_account(user.key, cluster.usdc), cluster.usdc)
    assert refused(user, {mint: DOLLAR}) == (InvalidRequest, ["outputMint frozen"])


def test_without_a_fee_account_builds_are_disabled_and_operators_are_alerted(
    user: SolanaUser, change_networks: Callable[..., Networks]
) -> None:
    mint = user.hold()
    change_networks(fee_wallet=str(user.cluster.create_wallet().pubkey()))
    with capture_logs() as logs:
        assert refused(user, {mint: DOLLAR}) == (BuildDisabled, [])
    assert [(log["event"], log["log_level"]) for log in logs] == [("fee_account_unusable", "error")]


def test_a_frozen_fee_account_disables_builds(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    cluster.faucet.freeze(cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc), cluster.usdc)
    assert refused(user, {mint: DOLLAR}) == (BuildDisabled, [])


# --- the cluster and the swap API -------------------------------------------------------------------------------------


def test_a_cluster_that_does_not_answer_is_unavailable(
    user: SolanaUser, use_nodes: Callable[..., ProviderPool]
) -> None:
    mint = user.hold()
    use_nodes("http://127.0.0.1:1/secret-of-the-provider")
    with pytest.raises(ChainUnavailable) as caught:
        user.build({mint: DOLLAR})
    assert caught.value.retry_after_seconds == 5
    assert "secret" not in str(caught.value)


def test_a_node_of_another_cluster_is_not_believed(
    user: SolanaUser, cluster: SolanaCluster, use_nodes: Callable[..., ProviderPool]
) -> None:
    mint = user.hold()
    use_nodes(cluster.add_node(pretended_genesis_hash=cluster.bank.blocks.latest.blockhash))
    assert refused(user, {mint: DOLLAR}) == (ChainUnavailable, [])


def test_a_swap_api_that_is_down_is_named(user: SolanaUser, change_networks: Callable[..., Networks]) -> None:
    mint = user.hold()
    change_networks(swap_api_url="http://127.0.0.1:1/secret-of-the-swap-api")
    with capture_logs() as logs:
        assert refused(user, {mint: DOLLAR}) == (SwapUnavailable, [])
    assert [log["event"] for log in logs] == ["swap_api_failed"]
    assert "secret" not in str(logs)


def test_a_swap_api_that_is_too_slow_is_not_waited_for(
    user: SolanaUser, change_networks: Callable[..., Networks]
) -> None:
    mint = user.hold()
    change_networks(rpc_timeout_seconds=1.0)
    with user.market.api.hung():
        assert refused(user, {mint: DOLLAR}) == (SwapUnavailable, [])


def test_the_time_to_retry_of_a_swap_api_is_passed_on(user: SolanaUser) -> None:
    mint = user.hold()
    user.market.api.replace = lambda: Response(429, b"{}", {"Retry-After": "17"})
    with pytest.raises(SwapUnavailable) as caught:
        user.build({mint: DOLLAR})
    assert caught.value.retry_after_seconds == 17


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"<html>", b'{"inputMint":' * 50, b"{}"])
def test_a_swap_api_of_another_shape_is_refused(user: SolanaUser, body: bytes) -> None:
    mint = user.hold()
    user.market.api.replace = lambda: Response(200, body)
    assert refused(user, {mint: DOLLAR}) == (SwapUnavailable, [])
