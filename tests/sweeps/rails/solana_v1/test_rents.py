"""Rents are read at each build: they have fallen on mainnet, and fall and rise with the epochs."""

from collections.abc import Mapping
from typing import Any

import pytest

from sweepapi.solana.encoding.accounts import TOKEN_ACCOUNT_BYTES
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

FIRST, TODAYS = 6_960, 5_080  # lamports for each byte
RENT_BASE_BYTES = 128  # for which every account pays, beside its data


def rent_of_token_account(lamports_per_byte: int) -> int:
    return (RENT_BASE_BYTES + TOKEN_ACCOUNT_BYTES) * lamports_per_byte


@pytest.mark.parametrize(("before", "after"), [(FIRST, TODAYS), (TODAYS, FIRST)], ids=["falls", "rises"])
def test_a_rent_that_changes_between_discovery_and_build_changes_what_is_paid_and_not_what_comes_back(
    user: SolanaUser, cluster: SolanaCluster, before: int, after: int
) -> None:
    cluster.set_rent(before)
    sold = user.hold()
    for _ in range(2):
        cluster.faucet.create_account(user.key, user.market.create_token())
    assert int(look(user)["totals"]["reclaimableLamports"]) == 2 * rent_of_token_account(before)

    cluster.set_rent(after)
    built = user.build({sold: 5 * DOLLAR})

    paid, back = int(built["rentLamports"]), int(built["reclaimedLamports"])
    assert paid == rent_of_token_account(after), "the account of the output"
    assert back == 3 * rent_of_token_account(before), "the empty ones, and the one that is emptied"
    held = user.lamports
    user.send(built)
    assert user.lamports == held + back - paid - int(built["networkFeeLamports"])


def test_a_rent_that_rises_within_a_build_is_paid(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.set_rent(TODAYS)
    sold = user.hold()

    def raise_rent(_query: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
        cluster.set_rent(FIRST)
        return body

    user.market.api.alter = raise_rent  # between the first request to the cluster and the simulation
    built = user.build({sold: 5 * DOLLAR})
    assert int(built["rentLamports"]) == rent_of_token_account(FIRST)


def test_no_rent_outlasts_the_build_that_read_it(user: SolanaUser, cluster: SolanaCluster) -> None:
    for lamports_per_byte in (FIRST, TODAYS, FIRST):
        cluster.set_rent(lamports_per_byte)
        assert user.plan({user.hold(): 5 * DOLLAR}).rent_lamports == rent_of_token_account(lamports_per_byte)
