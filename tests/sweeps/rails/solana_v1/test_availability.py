"""Whether sweeps can be built on a cluster, as the status of the service shows it."""

import time
from collections.abc import Callable

import pytest
from solders.account import Account
from solders.system_program import ID as SYSTEM_PROGRAM
from spl.token.constants import WRAPPED_SOL_MINT
from structlog.testing import capture_logs

from sweepapi import networks
from sweepapi.rpc import ProviderPool
from sweeps.rails.registry import BY_MODE, V1
from sweeps.rails.solana_v1 import availability
from tests.solana_cluster import SolanaCluster

pytestmark = pytest.mark.usefixtures("unmeasured")


def is_available(cluster: SolanaCluster) -> bool:
    (status,) = V1.networks(networks.current(), {cluster.network: BY_MODE["v1_solana"]})
    assert V1.network(status).data["available"] is status.is_available
    return bool(status.is_available)


def close_fee_account(cluster: SolanaCluster, *, of_sol: bool) -> None:
    """Have the cluster lose a fee account."""
    mint = WRAPPED_SOL_MINT if of_sol else cluster.usdc
    key = cluster.faucet.associated_account(cluster.fee_wallet, mint)
    cluster.bank.set_account(key, Account(1, b"", SYSTEM_PROGRAM))


def test_a_cluster_with_a_recent_clock_and_a_fee_account_is_available(cluster: SolanaCluster) -> None:
    assert is_available(cluster)


def test_a_cluster_whose_providers_do_not_answer_is_not(
    cluster: SolanaCluster, use_nodes: Callable[..., ProviderPool]
) -> None:
    use_nodes("http://127.0.0.1:1")
    assert not is_available(cluster)


def test_a_provider_of_another_cluster_does_not_count(
    cluster: SolanaCluster, use_nodes: Callable[..., ProviderPool]
) -> None:
    use_nodes(cluster.add_node(pretended_genesis_hash=cluster.bank.blocks.latest.blockhash))
    assert not is_available(cluster)


def test_a_clock_that_stopped_makes_the_cluster_unavailable(
    cluster: SolanaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 121)
    assert not is_available(cluster)


def test_an_output_token_without_a_fee_account_is_logged(
    cluster: SolanaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    close_fee_account(cluster, of_sol=True)
    assert is_available(cluster)
    assert "SOL" in caplog.text


def test_a_fee_account_that_is_there_again_is_logged_once(cluster: SolanaCluster) -> None:
    close_fee_account(cluster, of_sol=False)
    with capture_logs() as logs:
        availability.measured.measure(networks.current(), None)
        cluster.faucet.create_account(cluster.fee_wallet, cluster.usdc)
        availability.measured.measure(networks.current(), None)
        availability.measured.measure(networks.current(), None)
    assert [(log["event"], log["log_level"]) for log in logs] == [
        ("fee_accounts_missing", "warning"),
        ("fee_accounts_complete", "info"),
    ]


def test_without_any_fee_account_nothing_can_be_built(cluster: SolanaCluster) -> None:
    close_fee_account(cluster, of_sol=True)
    close_fee_account(cluster, of_sol=False)
    assert not is_available(cluster)
