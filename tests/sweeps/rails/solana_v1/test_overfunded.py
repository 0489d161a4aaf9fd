"""What accounts that stay open hold above today's rent comes back, and never keeps a token from being sold."""

from typing import Any

import pytest
from solders.pubkey import Pubkey

from dev.solana import extensions
from dev.solana.faucet import LAMPORTS_PER_SOL
from sweepapi.errors import InvalidRequest
from sweepapi.solana.encoding.addresses import TOKEN_2022, WRAPPED_SOL
from sweeps.protocol.request import BurnInput
from sweeps.rails.solana_v1.build import closings
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

FORMER, TODAYS = 6_960, 5_080  # lamports for each byte
TOKENS: dict[str, dict[str, Any]] = {
    "SPL Token": {},
    "Token-2022": {"program": TOKEN_2022},
    "with a transfer fee": {"program": TOKEN_2022, "extensions": [extensions.transfer_fee(100)]},
}


def hold_overfunded(user: SolanaUser, count: int = 3, **token: Any) -> list[Pubkey]:
    """Give the user so many tokens whose accounts were created before rent fell; returns their mints."""
    user.cluster.set_rent(FORMER)
    mints = [user.hold(**token) for _ in range(count)]
    user.cluster.set_rent(TODAYS)
    return mints


def lamports_of(listed: list[dict[str, str]]) -> dict[str, int]:
    return {one["mint"]: int(one["lamports"]) for one in listed}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_it_is_withdrawn_as_promised_and_nothing_else_changes(user: SolanaUser, token: dict[str, Any]) -> None:
    mints = hold_overfunded(user, **token)
    found = look(user)
    before = user.lamports

    built = user.build({})
    user.send(built)

    assert lamports_of(found["overfundedAccounts"]) == lamports_of(built["overfundedAccounts"])
    assert lamports_of(built["overfundedAccounts"]).keys() == {str(mint) for mint in mints}
    assert found["totals"]["reclaimableLamports"] == built["reclaimedLamports"]
    assert user.lamports - before == int(built["reclaimedLamports"]) - int(built["networkFeeLamports"]) > 0
    assert [user.balance(mint) for mint in mints] == [5 * DOLLAR] * len(mints)
    assert [one["summary"].split(" held")[0] for one in built["transactions"]] == [
        "Withdraws what 3 token accounts",
    ]
    assert looked_at().status == "completed"
    assert look(user)["overfundedAccounts"] == []


def test_an_account_that_is_sold_out_is_closed_instead_and_the_others_are_withdrawn_from_apart(
    user: SolanaUser,
) -> None:
    sold, *kept = hold_overfunded(user)
    built = user.build({sold: 5 * DOLLAR})
    assert [one["tokens"] for one in built["transactions"]] == [[str(sold)], []]
    assert lamports_of(built["overfundedAccounts"]).keys() == {str(mint) for mint in kept}
    assert [one["mint"] for one in built["closedAccounts"]] == [str(sold)]
    user.send(built)
    assert looked_at().status == "completed"


def test_an_account_that_keeps_a_part_of_its_tokens_is_withdrawn_from(user: SolanaUser) -> None:
    (mint,) = hold_overfunded(user, 1)
    built = user.build({mint: DOLLAR})
    user.send({"transactions": built["transactions"][::-1]})
    assert lamports_of(built["overfundedAccounts"]).keys() == {str(mint)}
    assert (user.balance(mint), looked_at().status) == (4 * DOLLAR, "completed")


def test_programs_that_can_not_withdraw_keep_no_token_from_being_sold(
    user: SolanaUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closings, "_WITHDRAW_EXCESS_LAMPORTS", bytes([250]))
    sold, *_ = hold_overfunded(user)
    built = user.build({sold: 5 * DOLLAR})
    assert (len(built["transactions"]), built["overfundedAccounts"], built["accountsLeft"]) == (1, [], 0)
    assert_nothing_to_do(user)


def assert_nothing_to_do(user: SolanaUser) -> None:
    with pytest.raises(InvalidRequest) as caught:
        user.build({})
    assert [(one.field, one.code) for one in caught.value.details] == [("tokens", "too_short")]


def test_programs_that_can_not_withdraw_keep_nothing_from_being_burnt_and_closed(
    user: SolanaUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closings, "_WITHDRAW_EXCESS_LAMPORTS", bytes([250]))
    burnt, *_ = hold_overfunded(user)
    user.cluster.faucet.create_account(user.key, user.market.create_token())
    built = user.build({}, burns=[BurnInput(str(burnt), 5 * DOLLAR, 10**12)])
    assert (len(built["burned"]), len(built["closedAccounts"]), built["overfundedAccounts"]) == (1, 2, [])
    user.send(built)
    assert looked_at().status == "completed"


def test_it_is_left_if_the_partner_wants_accounts_left_alone(user: SolanaUser) -> None:
    sold, *_ = hold_overfunded(user)
    assert user.build({sold: 5 * DOLLAR}, close_empty_accounts=False)["overfundedAccounts"] == []


@pytest.mark.parametrize(("excess", "priority_fee"), [(4_999, 0), (6_000, 10**9)])
def test_less_than_its_transaction_costs_stays(
    user: SolanaUser, cluster: SolanaCluster, excess: int, priority_fee: int
) -> None:
    mint = user.hold()
    cluster.faucet.give_lamports(cluster.faucet.associated_account(user.key, mint), excess)
    cluster.bank.priority_fee = priority_fee
    cluster.bank.advance(150)
    assert_nothing_to_do(user)


def test_what_wrapped_sol_holds_above_its_balance_stays(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.set_rent(FORMER)
    cluster.faucet.give_tokens(user.key, WRAPPED_SOL, LAMPORTS_PER_SOL)
    cluster.set_rent(TODAYS)
    assert look(user)["overfundedAccounts"] == []
    assert_nothing_to_do(user)


def test_accounts_beyond_twenty_transactions_are_counted(user: SolanaUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweepapi.solana.packing.packing.MAX_TRANSACTIONS", 1)
    hold_overfunded(user, 40)
    built = user.build({})
    assert len(built["overfundedAccounts"]) + built["accountsLeft"] == 40
    user.send(built)
    assert len(user.build({})["overfundedAccounts"]) == built["accountsLeft"] > 0
