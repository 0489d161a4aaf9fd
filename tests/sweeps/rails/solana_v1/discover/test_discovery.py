"""What a read a wallet on Solana finds: what can be swept, why the rest can't, and which rent can be reclaimed."""

from collections.abc import Callable
from typing import Any

import pytest
from solders.account import Account
from solders.pubkey import Pubkey

from dev.solana import extensions
from dev.solana.swap_api.server import Response
from sweepapi.errors import ChainUnavailable, InvalidRequest
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL
from sweepapi.solana.swap_api import verified_list
from sweeps.rails.solana_v1.discover.ranking import PAGE_ACCOUNTS
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look, put_accounts, reasons
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

# --- counts -----------------------------------------------------------------------------------------------------------


def test_two_hundred_accounts_take_four_requests_to_the_cluster(user: SolanaUser, round_trips: list[list[str]]) -> None:
    put_accounts(user, 120)
    put_accounts(user, 60, amount=0)
    for _ in range(20):
        user.hold()

    answer = look(user)

    assert (len(answer["tokens"]), len(answer["emptyAccounts"])) == (PAGE_ACCOUNTS, 60)
    assert [sorted(set(trip)) for trip in round_trips] == [
        [
            "getEpochInfo",
            "getGenesisHash",
            "getMinimumBalanceForRentExemption",
            "getRecentPrioritizationFees",
            "getTokenAccountsByOwner",
        ],
        ["getMultipleAccounts"],
        [
            "getEpochInfo",
            "getLatestBlockhash",
            "getRecentPerformanceSamples",
            "getRecentPrioritizationFees",
        ],
        ["getMinimumBalanceForRentExemption", "getMultipleAccounts", "simulateTransaction"],
    ]


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_a_token_is_shown_with_its_facts_and_what_it_would_become(user: SolanaUser) -> None:
    named = [extensions.metadata_pointer(), extensions.metadata("Paper Dollar", "PUSD")]
    mint = user.hold(4 * DOLLAR, program=TOKEN_2022, extensions=named, micro_usd=2 * DOLLAR)

    answer = look(user)

    assert answer["output"] == {"mint": str(user.cluster.usdc), "symbol": "USDC", "decimals": 6}
    assert answer["tokens"] == [
        {
            "mint": str(mint),
            "tokenAccount": str(user.cluster.faucet.associated_account(user.key, mint)),
            "amount": "4000000",
            "decimals": 6,
            "symbol": "PUSD",
            "name": "Paper Dollar",
            "estimatedOutput": "7940000",  # less the fee of 75 bps
            "routable": True,
            "reason": None,
            "message": None,
            "verdict": "sellable",
            "excludedBecause": None,
            "priceImpactBps": 12,
            "gasShare": "-310362",  # the rent of its account at 150 dollars, less a signature
            "netOutput": "8250362",
            "value": "8000000",
            "netValue": "8250362",
        }
    ]
    assert answer["totals"] == {"estimatedOutput": "7940000", "reclaimableLamports": "0"}


def test_another_output_can_be_asked_for(user: SolanaUser) -> None:
    user.hold(150 * DOLLAR)

    answer = look(user, output_asset=str(WRAPPED_SOL))

    assert answer["output"]["symbol"] == "SOL"
    assert answer["totals"]["estimatedOutput"] == "992500000"


def test_what_is_found_can_be_built(user: SolanaUser) -> None:
    user.hold()
    (found,) = look(user)["tokens"]

    built = user.build({Pubkey.from_string(found["mint"]): int(found["amount"])})

    assert built["estimatedOutput"]["user"] == found["estimatedOutput"]


def test_each_token_that_can_not_be_swept_has_a_reason(user: SolanaUser, cluster: SolanaCluster) -> None:
    faucet, wallet = cluster.faucet, user.key
    frozen, elsewhere, unique = user.hold(), user.market.create_token(), user.hold(1, decimals=0)
    faucet.freeze(faucet.associated_account(wallet, frozen), frozen)
    faucet.mint_to(faucet.create_other_account(wallet, elsewhere), elsewhere, DOLLAR)
    not_traded = faucet.create_mint(6)
    faucet.give_tokens(wallet, not_traded, DOLLAR)
    faucet.give_tokens(wallet, cluster.usdc, DOLLAR)
    restricted = {
        code: user.hold(program=TOKEN_2022, extensions=[extension])
        for code, extension in {
            "transfer_hook": extensions.transfer_hook(TOKEN),
            "non_transferable": extensions.non_transferable(),
        }.items()
    }

    answer = look(user)
    found = reasons(answer)

    expected = {
        frozen: "frozen",
        elsewhere: "not_associated",
        unique: "collectible",
        not_traded: "no_route",
        cluster.usdc: "is_output",
        **{mint: code for code, mint in restricted.items()},
    }
    assert found == {str(mint): (False, code) for mint, code in expected.items()}
    verdicts = {token["mint"]: token["verdict"] for token in answer["tokens"]}
    others = {str(not_traded): "no_route", str(cluster.usdc): None}
    assert verdicts == {mint: others.get(mint, "unsellable") for mint in found}


def test_a_token_that_keeps_a_part_of_transfers_is_taxed(user: SolanaUser) -> None:
    user.hold(program=TOKEN_2022, extensions=[extensions.transfer_fee(250)])

    (token,) = look(user)["tokens"]

    assert (token["routable"], token["verdict"], token["reason"]) == (True, "taxed", "transfer_fee")
    assert token["message"] == "It keeps 250 basis points of what is transferred."


def test_what_does_not_pay_its_transaction_is_uneconomic_unless_the_rent_of_its_account_does(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    """Only its close authority closes an account."""
    dust, enough, closed = (user.hold(held, program=TOKEN_2022) for held in (750, 760, 750))
    for mint in (dust, enough):
        account = cluster.faucet.associated_account(user.key, mint)
        found = cluster.bank.account(account)
        assert found is not None
        authority = b"\x01\0\0\0" + bytes(Pubkey.new_unique())
        data = found.data[:129] + authority + found.data[165:]
        cluster.bank.set_account(account, Account(found.lamports, data, found.owner))

    answer = look(user, output_asset=str(WRAPPED_SOL))

    assert reasons(answer) == {
        str(dust): (False, "uneconomic"),
        str(enough): (True, None),
        str(closed): (True, None),
    }
    verdicts = {token["mint"]: token["verdict"] for token in answer["tokens"]}
    assert verdicts == {str(dust): "uneconomic", str(enough): "sellable", str(closed): "sellable"}


# --- empty accounts ---------------------------------------------------------------------------------------------------


def test_empty_accounts_are_listed_with_the_rent_that_the_cluster_says(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    plain, extended = cluster.faucet.create_mint(6), cluster.faucet.create_mint(6, program=TOKEN_2022)
    accounts = {mint: cluster.faucet.create_account(user.key, mint) for mint in (plain, extended)}
    cluster.faucet.create_account(user.key, cluster.usdc)  # into which the user would sweep

    answer = look(user)

    listed = {one["mint"]: (one["tokenAccount"], int(one["lamports"])) for one in answer["emptyAccounts"]}
    assert listed == {str(mint): (str(key), cluster.lamports(key)) for mint, key in accounts.items()}
    assert int(answer["totals"]["reclaimableLamports"]) == sum(lamports for _, lamports in listed.values())


def test_an_empty_wallet_is_an_empty_answer(user: SolanaUser) -> None:
    answer = look(user)

    assert (answer["tokens"], answer["emptyAccounts"], answer["emptyAccountsLeft"]) == ([], [], 0)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_swap_api_that_fails_leaves_tokens_unquoted(user: SolanaUser) -> None:
    mint = user.hold()
    user.market.api.replace = lambda: Response(500)

    assert reasons(look(user)) == {str(mint): (None, "not_quoted")}


def test_a_quote_that_fails_costs_only_those_asked_for_with_it(user: SolanaUser) -> None:
    put_accounts(user, 7)
    for _ in range(3):
        user.hold()

    def spoiled(_query: Any, body: Any) -> Any:
        user.market.api.alter = lambda _query, honest: honest
        return {**body, "outAmount": "-1"}

    user.market.api.alter = spoiled
    found = list(reasons(look(user)).values())

    assert found.count((None, "not_quoted")) <= 8
    assert len(found) - found.count((None, "not_quoted")) >= 2


def test_a_slow_swap_api_bounds_the_time_of_a_check(
    user: SolanaUser, change_networks: Callable[..., Networks], monkeypatch: pytest.MonkeyPatch
) -> None:
    mint = user.hold()
    monkeypatch.setattr(verified_list, "MAX_SECONDS", 1.0)
    change_networks(rpc_timeout_seconds=1.0)
    with user.market.api.hung():
        assert reasons(look(user)) == {str(mint): (None, "not_quoted")}


def test_a_cluster_that_does_not_answer_is_unavailable(
    user: SolanaUser, use_nodes: Callable[..., ProviderPool]
) -> None:
    use_nodes("http://127.0.0.1:1")
    with pytest.raises(ChainUnavailable):
        look(user)


def test_another_output_than_the_configured_ones_is_refused(user: SolanaUser) -> None:
    with pytest.raises(InvalidRequest) as caught:
        look(user, output_asset=str(user.hold()))
    assert [(detail.field, detail.code) for detail in caught.value.details] == [("outputMint", "unsupported")]
