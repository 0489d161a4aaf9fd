"""The best basket of a discovery: what it promises is what its build brings, or a little more."""

from typing import Any

import pytest
from django.test import Client
from solders.pubkey import Pubkey

from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from tests.openapi import assert_documented
from tests.solana_discovery import look, put_accounts
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db


def built_from(user: SolanaUser, basket: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return user.build({Pubkey.from_string(one["mint"]): int(one["amount"]) for one in basket["tokens"]}, **fields)


@pytest.mark.parametrize("output", ["usdc", "sol"])
def test_a_basket_is_built_as_it_is_and_brings_no_less(user: SolanaUser, output: str) -> None:
    asset = str(user.cluster.usdc if output == "usdc" else WRAPPED_SOL)
    held = [user.hold((number + 1) * DOLLAR) for number in range(3)]
    put_accounts(user, 2)

    basket = look(user, output_asset=asset)["bestBasket"]
    built = built_from(user, basket, output_asset=asset, slippage_bps=100)

    assert [one["mint"] for one in basket["tokens"]] == [str(mint) for mint in held[::-1]]
    assert basket["expectedOutput"] == built["estimatedOutput"]["gross"]
    # The build has one transaction, and the basket three with a fee each.
    assert int(basket["economics"]["cost"]) == int(built["economics"]["cost"]) + 2 * 5_000
    assert int(basket["economics"]["netOutput"]) < int(built["economics"]["netOutput"])


def test_a_wallet_without_a_good_token_has_an_empty_basket(user: SolanaUser) -> None:
    put_accounts(user, 2)
    assert look(user)["bestBasket"] == {"tokens": [], "expectedOutput": "0", "economics": None}


def test_a_token_whose_worth_is_not_known_is_in_no_basket(user: SolanaUser) -> None:
    user.hold()
    del user.market.prices[WRAPPED_SOL]
    assert look(user)["bestBasket"]["tokens"] == []


def test_a_basket_is_documented(api: Client, user: SolanaUser) -> None:
    user.hold()
    response = api.post("/v1/sweep/discover", {"wallet": str(user.key)}, content_type="application/json")
    assert_documented(response, path="/v1/sweep/discover")
    assert len(response.json()["data"]["bestBasket"]["tokens"]) == 1
