"""A route that does not fit into a transaction is asked for again with fewer accounts."""

from typing import Any

import pytest
from solders.pubkey import Pubkey

from sweepapi.errors import TokensRefused
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db


def enlarge(user: SolanaUser, mint: Pubkey, *, above_accounts: int) -> list[str]:
    """Have the routes of a mint that are asked for with more accounts name more than a transaction holds.

    Returns with how many accounts they are asked for.
    """
    asked: list[str] = []

    def enlarged(query: Any, body: Any) -> Any:
        asked.extend([query["maxAccounts"]] * (query["inputMint"] == str(mint)))
        if query["inputMint"] == str(mint) and int(query["maxAccounts"]) > above_accounts:
            keys = [Pubkey.from_bytes(bytes([number]) * 32) for number in range(1, 40)]
            body["setupInstructions"][0]["accounts"] += [
                {"pubkey": str(key), "isSigner": False, "isWritable": False} for key in keys
            ]
        return body

    user.market.api.alter = enlarged
    return asked


def assert_too_large(user: SolanaUser, fits: Pubkey, mint: Pubkey) -> None:
    with pytest.raises(TokensRefused) as caught:
        user.build({fits: DOLLAR, mint: DOLLAR})
    assert [(detail.field, detail.code) for detail in caught.value.details] == [("tokens[1].mint", "too_large")]


@pytest.mark.parametrize(("above_accounts", "maxima", "requests"), [(47, ["48", "28"], 4), (27, ["48", "28", "16"], 5)])
def test_the_token_is_sold_by_the_first_route_that_fits(
    user: SolanaUser, round_trips: list[list[str]], above_accounts: int, maxima: list[str], requests: int
) -> None:
    fits, mint = user.hold(), user.hold()
    asked = enlarge(user, mint, above_accounts=above_accounts)
    built = user.build({fits: DOLLAR, mint: DOLLAR})
    assert [token["mint"] for token in built["tokens"]] == [str(fits), str(mint)]
    assert asked == maxima
    assert len(round_trips) == requests


def test_a_token_of_which_no_route_fits_is_named(user: SolanaUser) -> None:
    fits, mint = user.hold(), user.hold()
    enlarge(user, mint, above_accounts=0)
    assert_too_large(user, fits, mint)


def test_it_is_left_out_where_that_is_allowed(user: SolanaUser) -> None:
    fits, mint = user.hold(), user.hold()
    enlarge(user, mint, above_accounts=0)
    built = user.build({fits: DOLLAR, mint: DOLLAR}, leaves_out=True)
    assert [(token["mint"], token["reason"]) for token in built["skippedTokens"]] == [(str(mint), "too_large")]


def test_an_unusable_answer_about_a_shorter_route_leaves_the_token_too_large(user: SolanaUser) -> None:
    fits, mint = user.hold(), user.hold()
    enlarge(user, mint, above_accounts=0)
    enlarged = user.market.api.alter
    user.market.api.alter = lambda query, body: enlarged(query, body) if query["maxAccounts"] == "48" else {}
    assert_too_large(user, fits, mint)
