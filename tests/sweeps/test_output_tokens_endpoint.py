"""GET /v1/sweep/output-tokens: what sweeps on Solana can end in."""

from collections.abc import Callable

import pytest
from django.test import Client

from sweepapi.networks import Networks
from tests.factories.solana_sweeps import MAINNET, USDC
from tests.openapi import assert_documented
from tests.partner_app import error_of

pytestmark = pytest.mark.django_db

URL = "/v1/sweep/output-tokens"


@pytest.mark.usefixtures("shipped_cluster")
@pytest.mark.parametrize("urls", [{"solana": ["http://127.0.0.1:1"]}, {}], ids=["enabled", "disabled"])
def test_the_tokens_of_enabled_clusters_are_listed_in_the_order_of_the_file(
    api: Client, change_networks: Callable[..., Networks], urls: dict[str, list[str]]
) -> None:
    change_networks(rpc_urls=urls)
    response = api.get(URL)
    assert response.status_code == 200
    assert_documented(response, path=URL)
    tokens = response.json()["data"]["tokens"]
    assert [token["symbol"] for token in tokens] == (["USDC", "USDT", "SOL"] if urls else [])
    if urls:
        first = {"mint": USDC, "symbol": "USDC", "decimals": 6, "isNative": False}
        assert tokens[0] == {"chain": "solana", "network": MAINNET, **first}
        assert [token["isNative"] for token in tokens] == [False, False, True]


def test_a_key_is_required_and_only_get_is_allowed(api: Client, anonymous: Client) -> None:
    assert error_of(anonymous.get(URL)) == (401, "missing_api_key")
    assert error_of(api.post(URL, {}, content_type="application/json")) == (405, "method_not_allowed")
