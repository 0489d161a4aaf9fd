"""Exactly what a request names is burnt, and what would sell for something only if the request repeats its value."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from solders.pubkey import Pubkey
from spl.token.instructions import transfer
from spl.token.models import TransferParams

from dev.solana import extensions
from dev.solana.swap_api.answers import instruction
from sweepapi.errors import SwapUnavailable, TokensRefused
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022, WRAPPED_SOL
from sweeps.protocol.request import BurnInput
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser, hold_withholding

pytestmark = pytest.mark.django_db

HELD = 5 * DOLLAR


def hold_spam(user: SolanaUser, amount: int = HELD, **mint: Any) -> Pubkey:
    """Give the user a token that no one buys."""
    spam = user.cluster.faucet.create_mint(6, **mint)
    user.cluster.faucet.give_tokens(user.key, spam, amount)
    return spam


def burn(mint: Pubkey, amount: int = HELD, accepted_value: int | None = None) -> BurnInput:
    return BurnInput(str(mint), amount, accepted_value)


def refused(user: SolanaUser, *burns: BurnInput, **fields: Any) -> list[tuple[str, str]]:
    with pytest.raises(TokensRefused) as caught:
        user.build({}, burns=burns, **fields)
    return [(one.field, one.code) for one in caught.value.details]


@pytest.mark.parametrize("mint", [{}, {"program": TOKEN_2022}], ids=["SPL Token", "Token-2022"])
def test_spam_is_burnt_and_its_account_returns_its_rent(user: SolanaUser, mint: dict[str, Any]) -> None:
    spam = hold_spam(user, **mint)
    before = user.lamports

    built = user.build({}, burns=[burn(spam)])
    user.send(built)

    assert [(one["mint"], one["amount"], one["value"]) for one in built["burned"]] == [(str(spam), str(HELD), None)]
    assert [one["summary"].split(",")[0].split()[0] for one in built["transactions"]] == ["Burns"]
    assert not user.has_account(spam)
    assert user.lamports - before == int(built["reclaimedLamports"]) - int(built["networkFeeLamports"])
    assert looked_at().status == "completed"


def test_a_part_is_burnt_and_the_rest_stays(user: SolanaUser) -> None:
    spam = hold_spam(user)
    user.send(user.build({}, burns=[burn(spam, 2 * DOLLAR)], accepts_uneconomic=True))
    assert user.balance(spam) == HELD - 2 * DOLLAR


def test_a_burn_is_never_in_a_transaction_that_sells(user: SolanaUser) -> None:
    spam = hold_spam(user)
    sold = user.hold()
    built = user.build({sold: DOLLAR}, burns=[burn(spam)])
    assert [one["tokens"] for one in built["transactions"]] == [[str(sold)], []]
    user.send(built)
    assert (user.balance(spam), user.balance(sold)) == (0, 4 * DOLLAR)


def test_an_account_stays_open_if_the_partner_wants_that(user: SolanaUser) -> None:
    spam = hold_spam(user)
    user.send(user.build({}, burns=[burn(spam)], close_empty_accounts=False, accepts_uneconomic=True))
    assert (user.has_account(spam), user.balance(spam)) == (True, 0)


def test_an_account_that_a_sale_uses_is_burnt_from_and_stays_open(user: SolanaUser) -> None:
    sold, used = user.hold(), hold_spam(user)
    sends_nothing = transfer(
        TransferParams(
            program_id=TOKEN,
            source=user.cluster.faucet.associated_account(user.key, used),
            dest=user.cluster.faucet.associated_account(user.key, used),
            owner=user.key,
            amount=0,
        )
    )
    user.market.api.alter = lambda _query, body: {
        **body,
        "setupInstructions": [*body["setupInstructions"], instruction(sends_nothing)],
    }
    built = user.build({sold: DOLLAR}, burns=[burn(used)])
    user.send(built)
    assert (user.has_account(used), user.balance(used), looked_at().status) == (True, 0, "completed")


def test_nothing_is_burnt_that_is_not_named(user: SolanaUser) -> None:
    spam, other = hold_spam(user), hold_spam(user)
    user.send(user.build({}, burns=[burn(spam)]))
    assert user.balance(other) == HELD


def test_what_would_sell_for_something_is_burnt_only_for_its_value_repeated(user: SolanaUser) -> None:
    valuable = user.hold(HELD)
    with pytest.raises(TokensRefused) as caught:
        user.build({}, burns=[burn(valuable)])
    (detail,) = caught.value.details
    assert (detail.field, detail.code) == ("burn[0].acceptedValue", "value_not_accepted")
    value = int(detail.value)  # type: ignore[attr-defined]
    assert value == HELD
    assert refused(user, burn(valuable, accepted_value=value - 1)) == [("burn[0].acceptedValue", "value_not_accepted")]

    built = user.build({}, burns=[burn(valuable, accepted_value=value)])
    assert [one["value"] for one in built["burned"]] == [str(value)]


def test_what_is_worth_less_than_the_setting_needs_no_acceptance(user: SolanaUser) -> None:
    cheap = user.hold(9_999)
    user.build({}, burns=[burn(cheap, 9_999)])


def test_all_that_can_not_be_burnt_is_named_at_once(user: SolanaUser, cluster: SolanaCluster) -> None:
    frozen, few = hold_spam(user), hold_spam(user)
    cluster.faucet.freeze(cluster.faucet.associated_account(user.key, frozen), frozen)
    cluster.faucet.give_tokens(user.key, WRAPPED_SOL, DOLLAR)
    burns = [burn(frozen), burn(few, HELD + 1), burn(Pubkey.new_unique()), burn(WRAPPED_SOL, 5)]
    codes = ["frozen", "insufficient_balance", "not_a_token", "unsupported"]
    assert refused(user, *burns) == [(f"burn[{number}].mint", code) for number, code in enumerate(codes)]


def test_nothing_is_burnt_while_its_value_is_not_known(user: SolanaUser) -> None:
    valuable = user.hold(HELD)
    user.market.api.alter = lambda query, body: {} if query["inputMint"] == str(valuable) else body
    with pytest.raises(SwapUnavailable):
        user.build({}, burns=[burn(valuable)])


def test_a_burn_that_fails_in_a_simulation_is_refused_and_not_left_out(user: SolanaUser) -> None:
    spam = hold_spam(user)
    faucet = user.cluster.faucet
    asked: list[dict[str, Any]] = []

    def freeze(_query: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
        if not asked:
            faucet.freeze(faucet.associated_account(user.key, spam), spam)
        asked.append(body)
        return body

    user.market.api.alter = freeze  # while its value is asked for, so after its account was read
    other = hold_spam(user)
    assert refused(user, burn(other), burn(spam)) == [("burn[1].mint", "simulation_failed")]


def test_tokens_that_can_not_be_sold_are_named_with_those_that_can_not_be_burnt(user: SolanaUser) -> None:
    spam, sold, unknown = hold_spam(user), user.hold(), hold_spam(user)
    with pytest.raises(TokensRefused) as caught:
        user.build({sold: DOLLAR, unknown: HELD}, burns=[burn(spam), burn(Pubkey.new_unique())])
    assert [(one.field, one.code) for one in caught.value.details] == [
        ("tokens[1].mint", "no_route"),
        ("burn[1].mint", "not_a_token"),
    ]


@pytest.mark.parametrize(
    "mint",
    [{}, {"program": TOKEN_2022, "extensions": [extensions.transfer_fee(100)]}],
    ids=["SPL Token", "Token-2022"],
)
def test_the_issuer_of_a_token_burns_it(user: SolanaUser, mint: dict[str, Any]) -> None:
    own = hold_spam(user, **mint)
    account = user.cluster.bank.account(own)
    assert account is not None
    issued = type(account)(account.lamports, account.data[:4] + bytes(user.key) + account.data[36:], account.owner)
    user.cluster.bank.set_account(own, issued)
    user.send(user.build({}, burns=[burn(own)]))
    assert not user.has_account(own)


def test_an_account_that_withholds_transfer_fees_is_closed_when_it_is_burnt_empty(user: SolanaUser) -> None:
    spam = hold_withholding(user)
    user.send(user.build({}, burns=[burn(spam, user.balance(spam), accepted_value=10**12)]))
    assert not user.has_account(spam)


@pytest.mark.parametrize("taken", ["sold", "output", "twice"])
def test_a_token_is_not_both_burnt_and_something_else(
    user: SolanaUser, cluster: SolanaCluster, api: Client, taken: str
) -> None:
    mint = str(cluster.usdc) if taken == "output" else str(user.hold())
    one = {"mint": mint, "amount": "1"}
    body = {
        "wallet": str(user.key),
        "tokens": [one] if taken == "sold" else [],
        "burn": [one, one] if taken == "twice" else [one],
        "outputMint": str(cluster.usdc),
        "slippageBps": 50,
    }
    answer = api.post("/v1/sweep/build", body, content_type="application/json")
    details = answer.json()["error"]["details"]
    position = int(taken == "twice")
    assert [(one["field"], one["code"]) for one in details] == [(f"burn[{position}].mint", "duplicate")]


def test_the_api_burns(user: SolanaUser, cluster: SolanaCluster, api: Client) -> None:
    spam = hold_spam(user)
    body = {
        "wallet": str(user.key),
        "tokens": [],
        "burn": [{"mint": str(spam), "amount": str(HELD)}],
        "outputMint": str(cluster.usdc),
        "slippageBps": 50,
    }
    answer = api.post("/v1/sweep/build", body, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    assert [one["mint"] for one in answer.json()["data"]["burned"]] == [str(spam)]
