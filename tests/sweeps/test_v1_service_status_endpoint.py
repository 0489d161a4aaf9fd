"""GET /v1/status: public, and correct with a cluster, with one that is down, and with none."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from sweepapi.networks import Networks
from tests.openapi import assert_documented
from tests.partner_app import error_of
from tests.solana_cluster import SolanaCluster

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unmeasured")]

URL = "/v1/status"


def test_it_lists_the_cluster_and_the_limits_without_a_key(anonymous: Client, cluster: SolanaCluster) -> None:
    response = anonymous.get(URL)
    assert response.status_code == 200
    assert_documented(response, path=URL)
    data = response.json()["data"]
    assert (data["version"], data["available"]) == ("v1", True)
    assert data["fees"] == {"totalFeeBps": 75, "bpsDenominator": 10_000, "hardCapBps": 300}
    assert data["limits"] == {
        "maxTokens": 30,
        "minSlippageBps": 1,
        "maxSlippageBps": 5000,
        "expiryGraceSeconds": settings.SOLANA_EXPIRY_GRACE_SECONDS,
    }
    (shown,) = data["chains"]
    assert (shown["name"], shown["network"], shown["available"]) == ("solana", cluster.network, True)
    assert (shown["genesisHash"], shown["protocolRecipient"]) == (cluster.genesis_hash, str(cluster.fee_wallet))
    assert shown["finality"] == {"included": "confirmed", "final": "finalized", "recheckSeconds": 5}


def test_fees_limits_and_the_pace_of_the_indexer_are_those_of_v2(anonymous: Client, cluster: SolanaCluster) -> None:
    assert cluster.network
    v1, v2 = (anonymous.get(f"/{version}/status").json()["data"] for version in ("v1", "v2"))
    assert (v1["fees"], v1["indexer"]) == (v2["fees"], v2["indexer"])
    v1["limits"].pop("expiryGraceSeconds")
    assert v1["limits"].items() < v2["limits"].items()
    assert [chain["name"] for chain in v2["chains"]] == ["local"]


def test_a_cluster_that_is_down_is_listed_as_unavailable(
    anonymous: Client, cluster: SolanaCluster, change_networks: Callable[..., Networks]
) -> None:
    change_networks(rpc_urls={"solana": ["http://127.0.0.1:1/secret-of-the-provider"]})
    response = anonymous.get(URL)
    data = response.json()["data"]
    assert (data["available"], [chain["available"] for chain in data["chains"]]) == (False, [False])
    for secret in ("127.0.0.1", "secret-of-the-provider", cluster.url):
        assert secret not in response.content.decode()


def test_without_an_enabled_cluster_nothing_is_available(
    anonymous: Client, change_networks: Callable[..., Networks]
) -> None:
    change_networks(rpc_urls={})
    response = anonymous.get(URL)
    assert_documented(response, path=URL)
    assert (response.json()["data"]["available"], response.json()["data"]["chains"]) == (False, [])


def test_only_get_is_allowed(api: Client) -> None:
    assert error_of(api.post(URL, {}, content_type="application/json")) == (405, "method_not_allowed")
