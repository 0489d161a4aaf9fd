"""A sweep that sells nothing closes empty accounts and unwraps SOL, as it promises, and is followed like any other."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from solders.pubkey import Pubkey

from dev.solana.faucet import LAMPORTS_PER_SOL
from indexer import books, reconciliation
from ledger.models import JournalEntry
from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import InvalidRequest
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.models import Sweep
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look
from tests.solana_swap_api import SwapMarket
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser, hold_withholding

pytestmark = pytest.mark.django_db

WALLET_RENT = 890_880


def hold_empty(user: SolanaUser, count: int) -> list[Pubkey]:
    """Give the user so many empty token accounts; returns their mints."""
    mints = [user.market.create_token() for _ in range(count)]
    for mint in mints:
        user.cluster.faucet.create_account(user.key, mint)
    return mints


@pytest.fixture(params=["USDC", "SOL"])
def output(request: pytest.FixtureRequest, cluster: SolanaCluster) -> Pubkey:
    return cluster.usdc if request.param == "USDC" else WRAPPED_SOL


def test_42_empty_accounts_and_wrapped_sol_are_closed_and_return_what_was_promised(
    user: SolanaUser, output: Pubkey
) -> None:
    mints = hold_empty(user, 42)
    user.cluster.faucet.give_tokens(user.key, WRAPPED_SOL, LAMPORTS_PER_SOL)
    promised = look(user, output_asset=str(output))["totals"]["reclaimableLamports"]
    before = user.lamports

    built = user.build({}, output_asset=str(output), unwraps_coin=True)
    user.send(built)

    empty = [int(one["lamports"]) for one in built["closedAccounts"] if one["mint"] != str(WRAPPED_SOL)]
    assert sum(empty) == int(promised)
    assert (int(built["unwrappedLamports"]), built["accountsLeft"]) == (LAMPORTS_PER_SOL, 0)
    gained = int(built["reclaimedLamports"]) + int(built["unwrappedLamports"]) - int(built["networkFeeLamports"])
    assert user.lamports - before == gained
    assert not any(user.has_account(mint) for mint in [*mints, WRAPPED_SOL])


def test_it_completes_without_an_entry_and_the_books_agree(user: SolanaUser, cluster: SolanaCluster) -> None:
    hold_empty(user, 3)
    built = user.build({})
    user.send(built)
    sweep = looked_at()
    assert (sweep.status, sweep.flags) == ("completed", [])
    assert [execution.amounts.gross_output for execution in sweep.executions.all()] == [0]
    cluster.finalize()
    assert not looked_at().is_open
    assert JournalEntry.objects.count() == 0
    assert books.compare(networks.current(), cluster.network, first=None, last=None).differences == []


def test_one_that_lands_after_it_expired_is_found_among_the_transactions_of_the_fee_account(
    user: SolanaUser, cluster: SolanaCluster, settings: Settings
) -> None:
    settings.SOLANA_EXPIRY_GRACE_SECONDS = 0
    hold_empty(user, 2)
    (transaction,) = user.build({})["transactions"]
    cluster.expire_blockhashes()
    assert looked_at().status == "expired"
    cluster.send(user.sign_with_newest_blockhash(transaction))
    cluster.finalize()
    reconciliation.reconcile()
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.flags) == ("completed", ["executed_after_close"])


def test_each_transaction_says_what_it_closes(user: SolanaUser) -> None:
    hold_empty(user, 2)
    built = user.build({})
    assert [one["summary"].split(" and ")[0] for one in built["transactions"]] == ["Closes 2 token accounts"]
    assert built["economics"]["summary"].startswith("You get $")


def test_what_does_not_fit_beside_the_swaps_has_transactions_of_its_own(user: SolanaUser) -> None:
    mints = hold_empty(user, 60)
    built = user.build({user.hold(): 5 * DOLLAR})
    assert len(built["closedAccounts"]) == len(mints) + 1
    assert [bool(one["tokens"]) for one in built["transactions"]] == [True, *[False] * (len(built["transactions"]) - 1)]
    user.send(built)
    assert looked_at().status == "completed"


def test_an_account_that_withholds_transfer_fees_is_closed_once_they_are_harvested(user: SolanaUser) -> None:
    mint = hold_withholding(user)
    user.send(user.build({mint: user.balance(mint)}, close_empty_accounts=False))
    promised = int(look(user)["totals"]["reclaimableLamports"])
    before = user.lamports

    built = user.build({})
    user.send(built)

    assert promised == int(built["reclaimedLamports"]) > 0
    assert user.lamports - before == promised - int(built["networkFeeLamports"])
    assert not user.has_account(mint)


def test_an_account_that_withholds_transfer_fees_is_closed_when_it_is_sold_out(user: SolanaUser) -> None:
    mint = hold_withholding(user)
    built = user.build({mint: user.balance(mint)})
    before = user.lamports
    user.send(built)
    paid = int(built["networkFeeLamports"]) + int(built["rentLamports"])
    assert user.lamports - before == int(built["reclaimedLamports"]) - paid
    assert (user.has_account(mint), looked_at().status) == (False, "completed")


def test_a_wallet_that_can_pay_nothing_but_the_fee_gets_its_rent_back(swap_api: SwapMarket, partner: Partner) -> None:
    user = SolanaUser(swap_api, partner, lamports=WALLET_RENT + 10_000)
    hold_empty(user, 2)
    built = user.build({})
    user.send(built)
    assert built["issues"]["gas"] == []
    assert user.lamports > WALLET_RENT + 10_000


def test_a_build_that_sells_nothing_needs_something_to_close(user: SolanaUser) -> None:
    user.hold()
    with pytest.raises(InvalidRequest) as caught:
        user.build({})
    assert [(one.field, one.code) for one in caught.value.details] == [("tokens", "too_short")]


def test_the_api_takes_a_build_without_tokens(user: SolanaUser, cluster: SolanaCluster, api: Client) -> None:
    hold_empty(user, 2)
    body: dict[str, Any] = {"wallet": str(user.key), "tokens": [], "outputMint": str(cluster.usdc), "slippageBps": 50}
    answer = api.post("/v1/sweep/build", body, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    status = api.get(f"/v1/sweep/status/{answer.json()['data']['sweepId']}").json()["data"]
    assert (status["status"], status["tokens"]) == ("pending", [])
