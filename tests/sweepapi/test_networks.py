"""One registry holds the networks of a process; tests replace it whole."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from django.conf import settings

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.signers import SignerSettings
from sweepapi.networks import Networks
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster.clusters import load_clusters
from tests.local_chain import LocalChain

LOCAL = "eip155:31337"
SHIPPED_CLUSTERS = settings.BASE_DIR / "config" / "clusters.toml"


def test_the_registry_is_made_from_the_settings_once(chain: LocalChain) -> None:
    registry = networks.current()
    assert networks.current() is registry
    assert [enabled.name for enabled in registry.enabled] == ["local"]
    assert registry.pool(LOCAL).batch([Call("eth_chainId", (), lambda answer: int(answer, 16))]) == [
        chain.world["chainId"]
    ]


def test_a_chain_is_found_by_its_caip_2_identifier(two_chains: tuple[Chain, ...]) -> None:
    base, _ = two_chains
    assert base.network == "eip155:8453"
    assert networks.current().chain("eip155:8453") is base
    with pytest.raises(KeyError, match="eip155:0"):
        networks.current().chain("eip155:0")


@pytest.mark.usefixtures("two_chains")
def test_a_network_that_the_file_does_not_name_is_shown_by_its_identifier() -> None:
    assert networks.current().name_of("eip155:42161") == "arbitrum"
    assert networks.current().name_of("eip155:999999") == "eip155:999999"


@pytest.mark.usefixtures("two_chains")
def test_a_chain_has_the_default_build_mode_unless_it_has_its_own(change_networks: Callable[..., Networks]) -> None:
    registry = change_networks(default_build_mode="v4_fallback", build_modes={"base": "v5_partner_fees"})
    assert registry.build_mode("eip155:8453") == "v5_partner_fees"
    assert registry.build_mode("eip155:42161") == "v4_fallback"


@pytest.mark.usefixtures("two_chains")
def test_a_transaction_is_found_in_the_explorer_of_its_network_if_it_has_one(
    change_networks: Callable[..., Networks],
) -> None:
    assert networks.current().explorer_url("eip155:8453", "0xab") == "https://basescan.org/tx/0xab"
    assert networks.current().explorer_url("eip155:999999", "0xab") == ""
    base = replace(networks.current().chain("eip155:8453"), block_explorer_url="")
    assert change_networks(chains={"base": base}).explorer_url("eip155:8453", "0xab") == ""


def test_only_chains_with_providers_are_enabled(change_networks: Callable[..., Networks]) -> None:
    registry = change_networks(rpc_urls={"local": []})
    assert registry.enabled == ()
    assert registry.find("local") is None
    assert registry.chains["local"] is registry.chain(LOCAL)


def test_the_pool_of_a_chain_without_providers_never_answers(change_networks: Callable[..., Networks]) -> None:
    pool = change_networks(rpc_urls={}).pool(LOCAL)
    with pytest.raises(ChainUnavailableError):
        pool.batch([Call("eth_chainId", (), str)])


@pytest.mark.usefixtures("two_chains")
def test_the_providers_of_a_chain_have_to_be_on_that_chain_from_its_first_block_on() -> None:
    base = networks.current().chains["base"]
    (provider,) = networks.current().pool(base.network).providers
    assert (base.chain_id, base.genesis_hash) == tuple(proof.expected for proof in provider.target.proofs)


def test_threads_that_request_a_new_pool_at_the_same_time_get_the_same_one() -> None:
    got: list[ProviderPool] = []
    rival = Thread(target=lambda: got.append(registry.pool(LOCAL)))

    class UrlsWithARival(dict[str, list[str]]):
        def get(self, *_args: object) -> Any:
            if rival.ident is None:  # not started yet
                rival.start()
                rival.join(timeout=0.1)  # it would be done by then if it did not have to wait for us
            return []

    registry = replace(networks.current(), rpc_urls=UrlsWithARival())
    made = registry.pool(LOCAL)
    rival.join()
    assert got == [made]
    assert got[0] is made is registry.pool(LOCAL)


def test_a_replacement_is_seen_by_every_thread_and_ends_with_its_block() -> None:
    before = networks.current()
    other = replace(before, fee_signer_settings=SignerSettings("local", key="0x" + "05" * 32))
    with networks.replaced_by(other), ThreadPoolExecutor(max_workers=1) as thread:
        assert thread.submit(networks.current).result() is other
        assert networks.current().fee_signer.address != before.fee_signer.address
    assert networks.current() is before


def test_the_text_of_a_registry_has_no_secrets(change_networks: Callable[..., Networks]) -> None:
    registry = change_networks(
        rpc_urls={"local": ["https://rpc.example/provider-key"]},
        fee_signer_settings=SignerSettings("local", key="0x" + "07" * 32),
    )
    assert registry.fee_signer
    assert registry.pool(LOCAL)
    assert "provider-key" not in repr(registry)
    assert "07" * 32 not in repr(registry)


def test_chains_and_clusters_are_known_and_found_by_name_and_identifier(
    two_chains: tuple[Chain, ...], change_networks: Callable[..., Networks]
) -> None:
    urls = {"base": ["http://127.0.0.1:1"], "solana": ["http://127.0.0.1:1"]}
    registry = change_networks(clusters=load_clusters(SHIPPED_CLUSTERS), rpc_urls=urls)
    (cluster,) = registry.enabled_clusters
    assert {two_chains[0].network, cluster.network} <= set(registry.known)
    assert [registry.network_named(name) for name in ("base", "solana", "arbitrum", "other")] == [
        "eip155:8453",
        cluster.network,
        None,
        None,
    ]
    assert registry.cluster(cluster.network) is cluster
    assert registry.name_of(cluster.network) == "solana"
    assert registry.explorer_url(cluster.network, "5sig") == "https://explorer.solana.com/tx/5sig"
    with pytest.raises(KeyError, match="eip155:8453"):
        registry.cluster("eip155:8453")
    with pytest.raises(KeyError, match="solana:"):
        registry.chain(cluster.network)


def test_no_setting_of_evm_changes_the_build_mode_of_a_cluster(change_networks: Callable[..., Networks]) -> None:
    modes = {"default_build_mode": "v4_fallback", "build_modes": {"solana": "v4_fallback"}}
    registry = change_networks(clusters=load_clusters(SHIPPED_CLUSTERS), **modes)
    assert registry.build_mode(registry.clusters["solana"].network) == "v1_solana"
