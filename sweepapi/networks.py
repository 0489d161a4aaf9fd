"""The registry of this process: the networks with their build modes and providers, and the key that signs for them.

A network is an EVM chain or a Solana cluster. It is *known* when its file names it, and *enabled* when the environment
gives it providers. Networks are identified as CAIP-2 says, such as ``eip155:8453``.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.chain.providers import evm_pool
from sweepapi.evm.deployment.roles import Roles, load_roles
from sweepapi.evm.deployment.specification import Specification
from sweepapi.evm.market.lasting import LastingFacts
from sweepapi.evm.signers import FeeSigner, SignerSettings, make_signer
from sweepapi.evm.wallet.holdings.alchemy import Alchemy
from sweepapi.evm.wallet.holdings.blockscout import Blockscout
from sweepapi.evm.wallet.holdings.outside import OutsideSource
from sweepapi.forking import ForkSafeLock
from sweepapi.limits.shared_redis import SharedRedis
from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster.clusters import Cluster, load_clusters
from sweepapi.solana.cluster.providers import solana_pool
from sweepapi.solana.swap_api import SwapApi
from sweepapi.solana.swap_api.connection import SwapApiConnection
from sweepapi.solana.swap_api.memory import Memory
from sweepapi.solana.swap_api.pace import Pace
from sweepapi.solana.swap_api.token_prices import TokenPrices
from sweepapi.solana.swap_api.verified_list import VerifiedList
from sweepapi.solana.worth.coin_prices import CoinPrices

# Quotes take longer than this anyway.
SHARED_TIMEOUT_SECONDS = 0.25

# Below which Jupiter serves the swap API; its lists and prices are beside it.
SWAP_API_PATH = "/swap/v2"

SOLANA_BUILD_MODE = "v1_solana"  # clusters have no other

_pools_lock = ForkSafeLock()


@dataclass(frozen=True, eq=False)
class Networks:
    """The configuration of all networks, and what is made from it once: provider pools and the signer."""

    chains: Mapping[str, Chain]  # every chain of the chains file, by name
    clusters: Mapping[str, Cluster]  # every cluster of the clusters file, by name
    roles: Roles  # the same on every chain
    rpc_urls: Mapping[str, Sequence[str]] = field(repr=False)  # by the network's name; they may contain credentials
    rpc_timeout_seconds: float
    fee_signer_settings: SignerSettings
    default_build_mode: str
    build_modes: Mapping[str, str]  # of the chains that have a mode of their own, by the chain's name
    fee_wallet: str  # that is paid the fees of sweeps on Solana; blank if no cluster is enabled
    swap_api_url: str = field(repr=False)  # as above; it may contain a key
    swap_api_key: str = field(repr=False)
    swap_api_requests_per_minute: int  # that our plan with the swap API allows
    alchemy_urls: Mapping[str, str] = field(repr=False, default_factory=dict)  # by the chain's name; so is the next one
    blockscout_urls: Mapping[str, str] = field(repr=False, default_factory=dict)
    blockscout_key: str = field(repr=False, default="")
    _pools: dict[str, ProviderPool] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_settings(cls) -> Self:
        """Read the files; raises ``ChainsFileError`` or ``ClustersFileError`` if one is wrong."""
        return cls(
            chains=load_chains(settings.CHAINS_FILE),
            clusters=load_clusters(settings.CLUSTERS_FILE),
            roles=load_roles(settings.BASE_DIR / "contracts" / "roles.json"),
            rpc_urls=settings.RPC_URLS,
            rpc_timeout_seconds=settings.RPC_TIMEOUT_SECONDS,
            fee_signer_settings=signer_settings(),
            default_build_mode=settings.EVM_BUILD_MODE,
            build_modes=settings.EVM_BUILD_MODES,
            fee_wallet=settings.SOLANA_FEE_WALLET,
            swap_api_url=settings.SWAP_API_URL,
            swap_api_key=settings.SWAP_API_KEY,
            swap_api_requests_per_minute=settings.SWAP_API_REQUESTS_PER_MINUTE,
            alchemy_urls=settings.ALCHEMY_URLS,
            blockscout_urls=settings.BLOCKSCOUT_URLS,
            blockscout_key=settings.BLOCKSCOUT_KEY,
        )

    @cached_property
    def enabled(self) -> tuple[Chain, ...]:
        """The chains that have providers, in the file's order."""
        return tuple(chain for chain in self.chains.values() if self.rpc_urls.get(chain.name))

    @cached_property
    def enabled_clusters(self) -> tuple[Cluster, ...]:
        """The clusters that have providers, in the file's order."""
        return tuple(cluster for cluster in self.clusters.values() if self.rpc_urls.get(cluster.name))

    @property
    def enabled_networks(self) -> list[str]:
        """Those of both, by their identifiers."""
        return [*(chain.network for chain in self.enabled), *(cluster.network for cluster in self.enabled_clusters)]

    @cached_property
    def fee_signer(self) -> FeeSigner:
        """What signs fee authorizations; raises ``FeeSignerSettingsError``."""
        return make_signer(self.fee_signer_settings)

    @cached_property
    def swap_api(self) -> SwapApi:
        """The swap API that quotes sweeps on Solana."""
        return SwapApi(
            self.swap_api_url,
            self.swap_api_key,
            self.rpc_timeout_seconds,
            pace=self._swap_api_pace,
            memory=Memory(self._shared_redis, self._swap_api_prefix),
        )

    @cached_property
    def verified_list(self) -> VerifiedList:
        """The tokens that the swap API's token interface calls verified."""
        return VerifiedList(self._token_interfaces, self._swap_api_pace, self._shared_redis, self._swap_api_prefix)

    @cached_property
    def token_prices(self) -> TokenPrices:
        """Prices of tokens, by which wallets are ranked."""
        return TokenPrices(self._token_interfaces, self._swap_api_pace, self._shared_redis, self._swap_api_prefix)

    @cached_property
    def _token_interfaces(self) -> SwapApiConnection:
        """What is served beside the swap API."""
        url = self.swap_api_url.rstrip("/").removesuffix(SWAP_API_PATH)
        return SwapApiConnection(url, self.swap_api_key, self._swap_api_pace)

    @cached_property
    def _swap_api_pace(self) -> Pace:
        """What the plan allows, for all of the swap API's interfaces together."""
        per_minute = self.swap_api_requests_per_minute
        share = max(1, per_minute // settings.WEB_PROCESSES)
        return Pace(self._shared_redis, f"{self._swap_api_prefix}:window", per_minute=per_minute, share=share)

    @cached_property
    def _swap_api_prefix(self) -> str:
        """Of what all processes know of our account with the swap API."""
        account = f"{urlsplit(self.swap_api_url).netloc} {self.swap_api_key}"
        return f"swap-api:{sha256(account.encode()).hexdigest()[:16]}"

    @cached_property
    def _shared_redis(self) -> SharedRedis:
        return SharedRedis(settings.REDIS_URL, timeout_seconds=SHARED_TIMEOUT_SECONDS)

    @cached_property
    def coin_prices(self) -> CoinPrices:
        """What SOL was last quoted at."""
        return CoinPrices()

    @cached_property
    def lasting_facts(self) -> Mapping[str, LastingFacts]:
        """What this process remembers of each chain, by the chain's identifier."""
        return {chain.network: LastingFacts() for chain in self.chains.values()}

    @cached_property
    def holdings_services(self) -> Mapping[str, Sequence[OutsideSource]]:
        """The services that know the tokens of wallets, by the chain's identifier."""
        found: dict[str, list[OutsideSource]] = {chain.network: [] for chain in self.chains.values()}
        for name, url in self.alchemy_urls.items():
            if name in self.chains:
                found[self.chains[name].network].append(OutsideSource(Alchemy(url=url, chain_name=name)))
        for name, url in self.blockscout_urls.items():
            if name in self.chains:
                service = Blockscout(url=url, key=self.blockscout_key, chain_name=name)
                found[self.chains[name].network].append(OutsideSource(service))
        return found

    @cached_property
    def _chains(self) -> Mapping[str, Chain]:
        return {chain.network: chain for chain in self.chains.values()}

    @cached_property
    def _clusters(self) -> Mapping[str, Cluster]:
        return {cluster.network: cluster for cluster in self.clusters.values()}

    @cached_property
    def _by_network(self) -> Mapping[str, Chain | Cluster]:
        return {**self._chains, **self._clusters}

    @property
    def known(self) -> Collection[str]:
        """The identifiers of all networks, with providers or without."""
        return self._by_network.keys()

    @cached_property
    def sandbox(self) -> frozenset[str]:
        """The identifiers of the known networks that test keys reach, and live keys do not."""
        return frozenset(network for network, known in self._by_network.items() if known.sandbox)

    def find(self, name: str) -> Chain | None:
        """Return the enabled chain of this name, or None."""
        return next((chain for chain in self.enabled if chain.name == name), None)

    def network_named(self, name: str) -> str | None:
        """Return the identifier of the enabled network of this name, or None."""
        enabled: tuple[Chain | Cluster, ...] = (*self.enabled, *self.enabled_clusters)
        return next((one.network for one in enabled if one.name == name), None)

    def chain(self, network: str) -> Chain:
        """Return a known chain; ``KeyError`` if the file no longer has it, although it must keep every chain in use."""
        return self._chains[network]

    def cluster(self, network: str) -> Cluster:
        """Return a known cluster; ``KeyError`` as ``chain`` raises it."""
        return self._clusters[network]

    @property
    def names(self) -> dict[str, str]:
        """The name of each network of both files, enabled or not, by its identifier."""
        return {network: found.name for network, found in self._by_network.items()}

    def name_of(self, network: str) -> str:
        """Return the network's name, or its CAIP-2 identifier if its file no longer names it."""
        found = self._by_network.get(network)
        return network if found is None else found.name

    def payout_senders(self, network: str) -> Sequence[str]:
        """Return the wallets that pay partners on a network; none where its file no longer names it."""
        found = self._by_network.get(network)
        if isinstance(found, Cluster) and not found.payout_senders:
            return (self.fee_wallet,) if self.fee_wallet else ()
        return () if found is None else found.payout_senders

    def build_mode(self, network: str) -> str:
        """Return the mode in which new sweeps are built on a network; sweeps built before keep theirs."""
        if network in self._clusters:
            return SOLANA_BUILD_MODE
        return self.build_modes.get(self.name_of(network), self.default_build_mode)

    def explorer_url(self, network: str, tx_hash: str) -> str:
        """Return where people can look at a transaction; blank if the file names no explorer for its network."""
        found = self._by_network.get(network)
        if found is None or not found.block_explorer_url:
            return ""
        return f"{found.block_explorer_url}/tx/{tx_hash}"

    def pool(self, network: str) -> ProviderPool:
        """Return the connections to a known network, the same ones each time.

        A network without providers gets a pool that never answers. Raises ``KeyError`` as ``chain`` does.
        """
        known = self._by_network[network]
        with _pools_lock:
            if network not in self._pools:
                self._pools[network] = self._new_pool(known, self.rpc_urls.get(known.name, ()))
            return self._pools[network]

    def _new_pool(self, known: Chain | Cluster, urls: Sequence[str]) -> ProviderPool:
        if isinstance(known, Cluster):
            return solana_pool(urls=urls, cluster=known, timeout_seconds=self.rpc_timeout_seconds)
        return evm_pool(
            urls=urls,
            chain_id=known.chain_id,
            genesis_hash=known.genesis_hash,
            timeout_seconds=self.rpc_timeout_seconds,
            max_head_age_seconds=known.finality.max_head_age_seconds,
            fee_model=known.fee_model,
        )

    def specification(self, chain: Chain) -> Specification:
        """Return what has to be deployed on a chain; ``SpecificationError`` if the chains file lacks part of it."""
        return Specification.of(chain=chain, roles=self.roles, fee_signer=self.fee_signer.address)


def signer_settings() -> SignerSettings:
    return SignerSettings(
        kind=settings.FEE_SIGNER,
        key=settings.FEE_SIGNER_KEY,
        keystore=settings.FEE_SIGNER_KEYSTORE,
        password_file=settings.FEE_SIGNER_PASSWORD_FILE,
        kms_key_id=settings.FEE_SIGNER_KMS_KEY_ID,
        web3signer_url=settings.FEE_SIGNER_WEB3SIGNER_URL,
        address=settings.FEE_SIGNER_ADDRESS,
    )


_active: list[Networks] = []  # the last one counts; empty until the first use, which may be before a fork
_active_lock = ForkSafeLock()


def current() -> Networks:
    """Return this process's registry, made from the settings on first use."""
    with _active_lock:
        if not _active:
            _active.append(Networks.from_settings())
        return _active[-1]


@contextmanager
def replaced_by(networks: Networks) -> Iterator[Networks]:
    """Use another registry within the block, in every thread; this is how tests replace chains, pools and signer."""
    _active.append(networks)
    try:
        yield networks
    finally:
        _active.pop()
