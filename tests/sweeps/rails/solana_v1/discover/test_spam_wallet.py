"""A wallet that strangers filled with thousands of tokens: the real ones are on the first page, for few requests."""

from collections.abc import Callable

import pytest

from dev.solana.swap_api.limit import PlanLimit
from dev.solana.swap_api.server import Request
from dev.solana.swap_api.tokens import PRICE_PATH, TAG_PATH
from sweepapi.networks import Networks
from sweeps.rails.solana_v1.discover.ranking import PAGE_ACCOUNTS
from sweeps.rails.solana_v1.discover.selling import MAX_TRIED
from tests.solana_discovery import SpammedWallet, look, mints_of, pages, put_accounts
from tests.solana_user import SolanaUser

pytestmark = pytest.mark.django_db

MOST_CLUSTER_REQUESTS, MOST_TOKEN_REQUESTS = 6, 11


@pytest.fixture
def asked(user: SolanaUser) -> list[str]:
    """The paths that the swap API was asked for."""
    paths: list[str] = []
    documented = user.market.api.observe

    def observe(request: Request, response: object) -> None:
        paths.append(request.path)
        documented(request, response)  # type: ignore[arg-type]

    user.market.api.observe = observe
    return paths


def test_real_tokens_among_thousands_are_on_the_first_page_and_the_others_follow(
    user: SolanaUser, round_trips: list[list[str]], asked: list[str]
) -> None:
    wallet = SpammedWallet.of(user, verified=15, unverified=5, spam_accounts=5_000)
    candidates = [str(mint) for mint in put_accounts(user, 3)]

    first = look(user, candidates=candidates)

    assert len(round_trips) <= MOST_CLUSTER_REQUESTS
    assert asked.count(PRICE_PATH) + asked.count(TAG_PATH) <= MOST_TOKEN_REQUESTS
    assert len(first["tokens"]) == PAGE_ACCOUNTS
    assert {*wallet.verified, *candidates} <= set(mints_of(first))
    assert set(mints_of(first)[:3]) == set(candidates)
    assert mints_of(first)[3:18] == wallet.verified[::-1]  # the one with most first
    assert first["coverage"]["tokensLeft"] == 5_023 - PAGE_ACCOUNTS

    found = set(mints_of(first))
    for page in pages(user, cursor=first["coverage"]["nextCursor"]):
        found.update(mints_of(page))
        if found >= set(wallet.unverified):
            break
    assert found >= set(wallet.unverified)


def test_the_free_plan_quotes_the_verified_tokens_of_a_wallet_full_of_spam(
    user: SolanaUser, change_networks: Callable[..., Networks]
) -> None:
    """Half of its 60 requests are for discoveries: the list, ten for prices, one for SOL, and the best 18 tokens."""
    limit = user.market.api.admit = PlanLimit()
    change_networks(swap_api_requests_per_minute=limit.requests)
    wallet = SpammedWallet.of(user, verified=15, unverified=0, spam_accounts=600)

    answer = look(user)

    quoted = {token["mint"] for token in answer["tokens"] if token["estimatedOutput"] is not None}
    assert quoted == set(wallet.verified)
    assert (limit.admitted, limit.refused) == (limit.requests // 2, 0)
    assert sum(token["routable"] is True for token in answer["tokens"]) == MAX_TRIED
    assert answer["retryAfterSeconds"] is not None
