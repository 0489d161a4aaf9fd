"""After a partial landing, the status says what is left, as the body of a build."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

MANY = 6  # tokens, which take two transactions


@pytest.fixture(autouse=True)
def _no_grace(settings: Settings) -> None:
    settings.SOLANA_EXPIRY_GRACE_SECONDS = 0


def status_of(api: Client, sweep_id: str) -> Any:
    return api.get(f"/v1/sweep/status/{sweep_id}").json()["data"]


def land_first(user: SolanaUser, **choices: Any) -> Any:
    """Build a sweep of two transactions, and land the first."""
    built = user.build({user.hold(150 * DOLLAR): 150 * DOLLAR for _ in range(MANY)}, **choices)
    assert len(built["transactions"]) == 2
    user.send({**built, "transactions": built["transactions"][:1]})
    return built


def test_what_is_left_after_a_partial_landing_builds_as_it_is(
    user: SolanaUser, cluster: SolanaCluster, api: Client
) -> None:
    built = land_first(user)
    cluster.expire_blockhashes()
    looked_at()
    assert looked_at().flags == ["partial"]
    remaining = status_of(api, built["sweepId"])["remaining"]
    assert [token["mint"] for token in remaining["tokens"]] == built["transactions"][1]["tokens"]

    answer = api.post("/v1/sweep/build", remaining, content_type="application/json")

    assert answer.status_code == 201, answer.json()
    rebuilt = answer.json()["data"]
    user.send(rebuilt)
    assert [token["mint"] for token in rebuilt["tokens"]] == [token["mint"] for token in remaining["tokens"]]
    assert status_of(api, rebuilt["sweepId"])["remaining"] is None


def test_nothing_is_left_while_the_other_transaction_can_still_land(user: SolanaUser, api: Client) -> None:
    built = land_first(user)
    looked_at()
    assert status_of(api, built["sweepId"])["remaining"] is None


def test_what_is_left_is_built_by_the_choices_of_the_first_build(
    user: SolanaUser, cluster: SolanaCluster, api: Client
) -> None:
    choices = {"accepted_impact_bps": 700, "accepts_uneconomic": True, "leaves_out": True, "price_percentile": "medium"}
    built = land_first(user, slippage_bps=77, close_empty_accounts=False, unwraps_coin=True, **choices)
    cluster.expire_blockhashes()
    looked_at()
    looked_at()
    remaining = status_of(api, built["sweepId"])["remaining"]
    assert remaining | {"tokens": []} == {
        "chain": "solana",
        "wallet": str(user.key),
        "tokens": [],
        "outputMint": str(cluster.usdc),
        "slippageBps": 77,
        "acceptPriceImpactBps": 700,
        "acceptUneconomic": True,
        "onUnroutable": "skip",
        "closeEmptyAccounts": False,
        "unwrapSol": True,
        "computeUnitPricePercentile": "medium",
    }
