"""Whatever the token and price interfaces answer, documented or not, only the order of a wallet's tokens changes.

The variants are made from the facts of the documents: each field is left out, null, and out of range in turn.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from dev.solana.swap_api.server import Response
from dev.solana.swap_api.tokens import PRICE_PATH, TAG_PATH
from sweepapi.networks import Networks
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.rails.solana_v1.discover import ranking
from tests.solana_discovery import look, mints_of, pages, put_accounts
from tests.solana_user import DOLLAR, SolanaUser
from tests.swap_document import FACTS

pytestmark = pytest.mark.django_db

Change = Callable[[dict[str, Any]], dict[str, Any]]

WRONG = (None, -1)  # the second one is out of range, or of another type


@pytest.fixture(autouse=True)
def crowded(user: SolanaUser, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """More tokens than a page has room for: two are verified, the next two have a price, and the rest nothing."""
    monkeypatch.setattr(ranking, "PAGE_ACCOUNTS", 4)
    held = [user.hold((number + 1) * DOLLAR) for number in range(4)]
    user.market.verified.update(held[:2])
    put_accounts(user, 3)
    return [str(mint) for mint in held]


def figures(user: SolanaUser) -> dict[str, dict[str, Any]]:
    """Return all that is said of each token, from all pages."""
    return {token["mint"]: token for page in pages(user) for token in page["tokens"]}


def without(name: str) -> Change:
    return lambda entry: {field: value for field, value in entry.items() if field != name}


def having(name: str, value: Any) -> Change:
    return lambda entry: entry | {name: value}


def changes_of(fact: dict[str, Any]) -> list[tuple[str, Change]]:
    """Return each change of an answer's entries, with its name."""
    names = [name.rstrip("!?") for name in fact]
    wrong = [(f"{name} {value!r:.9}", having(name, value)) for name in names for value in WRONG]
    return [*((f"no {name}", without(name)) for name in names), *wrong]


LIST_CHANGES = dict(changes_of(FACTS["tokens"][0]))
PRICE_CHANGES = dict(changes_of(FACTS["prices"]["*"]))


def forget(change_networks: Callable[..., Networks]) -> None:
    """Let a new process with another account at the swap API begin, which remembers nothing."""
    change_networks(swap_api_key=f"key {uuid4()}")


@pytest.mark.parametrize("name", LIST_CHANGES)
def test_a_list_of_any_shape_changes_no_figure(
    user: SolanaUser, change_networks: Callable[..., Networks], name: str
) -> None:
    change = LIST_CHANGES[name]
    user.market.api.alter_tokens = lambda path, body: [change(one) for one in body] if path == TAG_PATH else body
    found = figures(user)
    user.market.api.alter_tokens = lambda _path, body: body
    forget(change_networks)
    assert found == figures(user)


@pytest.mark.parametrize("name", PRICE_CHANGES)
def test_prices_of_any_shape_change_no_figure(
    user: SolanaUser, change_networks: Callable[..., Networks], name: str
) -> None:
    change = PRICE_CHANGES[name]
    user.market.api.alter_tokens = lambda path, body: (
        {mint: change(one) for mint, one in body.items()} if path == PRICE_PATH else body
    )
    found = figures(user)
    user.market.api.alter_tokens = lambda _path, body: body
    forget(change_networks)
    assert found == figures(user)


def test_the_order_is_by_the_list_and_then_by_prices(user: SolanaUser, crowded: list[str]) -> None:
    answer = look(user)
    assert mints_of(answer) == [crowded[1], crowded[0], crowded[3], crowded[2]]
    assert (answer["coverage"]["verifiedList"], answer["coverage"]["prices"]) == ("complete", "complete")


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
def test_a_price_that_is_wrong_by_a_thousand_moves_a_token_and_no_figure(
    user: SolanaUser, crowded: list[str], change_networks: Callable[..., Networks], factor: float
) -> None:
    wrong = crowded[2] if factor > 1 else crowded[3]

    def alter(path: str, body: Any) -> Any:
        if path == PRICE_PATH:
            body[wrong]["usdPrice"] *= factor
        return body

    user.market.api.alter_tokens = alter
    found, shown = mints_of(look(user)), figures(user)
    assert found == [crowded[1], crowded[0], crowded[2], crowded[3]]
    user.market.api.alter_tokens = lambda _path, body: body
    forget(change_networks)
    assert shown == figures(user)


@pytest.mark.parametrize(("path", "state"), [(TAG_PATH, "verifiedList"), (PRICE_PATH, "prices")])
@pytest.mark.parametrize("broken", [Response(500), Response(404), Response(429), Response(200, b"<html>")], ids=str)
def test_an_interface_that_fails_is_named_and_the_wallet_is_read(
    user: SolanaUser, crowded: list[str], path: str, state: str, broken: Response
) -> None:
    user.market.api.answer_tokens = lambda asked: broken if asked == path else None
    answer = look(user)
    assert answer["coverage"][state] == "unavailable"
    assert len(answer["tokens"]) == 4
    assert set(crowded) <= figures(user).keys()


def test_what_one_page_has_room_for_needs_no_price(user: SolanaUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "PAGE_ACCOUNTS", 64)
    assert look(user)["coverage"]["prices"] == "not_needed"


def test_a_false_price_in_an_empty_pool_does_not_lead(user: SolanaUser, crowded: list[str]) -> None:
    def alter(path: str, body: Any) -> Any:
        if path == PRICE_PATH:
            body[crowded[2]] |= {"usdPrice": 1e9, "liquidity": 0.01}
        return body

    user.market.api.alter_tokens = alter
    assert mints_of(look(user)) == [crowded[1], crowded[0], crowded[3], crowded[2]]


def test_accounts_beside_the_associated_one_do_not_crowd(user: SolanaUser, crowded: list[str]) -> None:
    """Anyone can create a thousand accounts of a wallet that hold a verified token."""
    verified = min(user.market.verified - {user.cluster.usdc, WRAPPED_SOL}, key=str)
    for _ in range(6):
        account = user.cluster.faucet.create_other_account(user.key, verified)
        user.cluster.faucet.mint_to(account, verified, 90 * DOLLAR)
    assert set(mints_of(look(user))) == set(crowded)


def test_a_candidate_that_only_another_account_holds_is_on_the_first_page(user: SolanaUser) -> None:
    elsewhere = user.market.create_token()
    account = user.cluster.faucet.create_other_account(user.key, elsewhere)
    user.cluster.faucet.mint_to(account, elsewhere, 1)
    first = look(user, candidates=[str(elsewhere)])["tokens"][0]
    assert (first["mint"], first["tokenAccount"], first["reason"]) == (str(elsewhere), str(account), "not_associated")
