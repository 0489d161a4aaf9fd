"""The pages of a wallet's accounts: none is skipped or shown twice, whatever becomes of the wallet between them."""

from typing import Any

import pytest
from django.test import Client
from solders.account import Account
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM_PROGRAM

from sweeps.rails.solana_v1.discover import ranking
from sweeps.rails.solana_v1.discover.ranking import PAGE_ACCOUNTS
from tests.solana_discovery import look, mints_of, pages, put_accounts
from tests.solana_user import SolanaUser

pytestmark = pytest.mark.django_db

DISCOVER = "/v1/sweep/discover"


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "PAGE_ACCOUNTS", 4)


def test_every_account_is_on_one_page(user: SolanaUser) -> None:
    held = put_accounts(user, 9)

    found = list(pages(user))

    assert [len(page["tokens"]) for page in found] == [4, 4, 1]
    assert [page["coverage"]["tokensLeft"] for page in found] == [5, 1, 0]
    assert [page["coverage"]["complete"] for page in found] == [False, False, True]
    assert sorted(mint for page in found for mint in mints_of(page)) == sorted(map(str, held))


def test_what_arrives_between_pages_is_on_a_later_one_and_what_goes_hides_nothing(user: SolanaUser) -> None:
    held = put_accounts(user, 9)
    first = look(user)
    gone = str(next(mint for mint in held if str(mint) not in mints_of(first)))
    for mint in (gone, mints_of(first)[0]):  # one of a later page, and one that was shown
        close_account(user, mint)
    arrived = [str(mint) for mint in put_accounts(user, 6)]

    later = list(pages_after(user, first))

    shown = [mint for page in [first, *later] for mint in mints_of(page)]
    assert sorted(shown) == sorted([*{*map(str, held)} - {gone}, *arrived])


def test_an_order_that_changes_between_pages_skips_and_repeats_nothing(user: SolanaUser) -> None:
    held = put_accounts(user, 9)
    first = look(user)
    user.market.verified.update(held)

    later = list(pages_after(user, first))

    shown = [mint for page in [first, *later] for mint in mints_of(page)]
    assert sorted(shown) == sorted(map(str, held))


def test_a_token_that_was_named_is_on_the_next_page(user: SolanaUser) -> None:
    put_accounts(user, 12)
    first = look(user)
    (arrived,) = put_accounts(user, 1)

    second = look(user, cursor=first["coverage"]["nextCursor"], candidates=[str(arrived)])

    assert mints_of(second)[0] == str(arrived)


def test_rents_are_promised_once(user: SolanaUser) -> None:
    put_accounts(user, 5)
    put_accounts(user, 2, amount=0)

    assert [len(page["emptyAccounts"]) for page in pages(user)] == [2, 0]


def test_a_cursor_of_another_wallet_or_output_or_that_was_changed_is_refused(api: Client, user: SolanaUser) -> None:
    put_accounts(user, 5)
    body = {"wallet": str(user.key)}
    cursor = post(api, body)["data"]["coverage"]["nextCursor"]
    other = str(user.cluster.create_wallet().pubkey())
    changes: list[dict[str, Any]] = [
        {"wallet": other},
        {"outputMint": "So11111111111111111111111111111111111111112"},
        {"cursor": cursor[:-1]},
        {"cursor": "AAAA"},
    ]
    for change in changes:
        details = post(api, body | {"cursor": cursor} | change)["error"]["details"]
        assert [(one["field"], one["code"]) for one in details] == [("cursor", "invalid_format")]
    assert len(post(api, body | {"cursor": cursor, "slippageBps": 70})["data"]["tokens"]) == 1


def test_no_more_tokens_can_be_named_than_a_page_has_room_for(api: Client, user: SolanaUser) -> None:
    named = [str(mint) for mint in put_accounts(user, 51)]
    details = post(api, {"wallet": str(user.key), "candidates": named})["error"]["details"]
    assert [(one["field"], one["code"]) for one in details] == [("candidates", "too_long")]
    assert len(named) - 1 <= PAGE_ACCOUNTS


def close_account(user: SolanaUser, mint: str) -> None:
    """Have an account of the user vanish, as one that was closed."""
    at = user.cluster.faucet.associated_account(user.key, Pubkey.from_string(mint))
    user.cluster.bank.set_account(at, Account(0, b"", SYSTEM_PROGRAM))


def pages_after(user: SolanaUser, first: dict[str, Any]) -> list[dict[str, Any]]:
    return list(pages(user, cursor=first["coverage"]["nextCursor"]))


def post(api: Client, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = api.post(DISCOVER, body, content_type="application/json").json()
    return answer
