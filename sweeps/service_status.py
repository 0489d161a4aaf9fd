"""The public status of the service: what it offers, within which limits, and what works at the moment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from django.conf import settings

from sweepapi import networks
from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.modes import Mode, mode_of
from sweepapi.monitoring import metrics
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import Cluster, OutputToken
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.heartbeats import Presence, worker_presence
from sweeps.models.sweep import MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS
from sweeps.protocol.presentation import NetworkStatus, Presentation
from sweeps.rails.registry import BY_MODE, V1, V2


@dataclass(frozen=True)
class ServiceStatus:
    """The status of one version of the API, measured in bounded time."""

    version: str
    hard_cap_bps: int
    chains: Sequence[NetworkStatus]
    default_build_mode: str

    total_fee_bps: int = field(default_factory=lambda: settings.TOTAL_FEE_BPS)
    bps_denominator: int = BPS_DENOMINATOR

    max_tokens: int = field(default_factory=lambda: settings.MAX_TOKENS)
    min_slippage_bps: int = MIN_SLIPPAGE_BPS
    max_slippage_bps: int = MAX_SLIPPAGE_BPS
    authorization_ttl_seconds: int = field(default_factory=lambda: settings.AUTHORIZATION_TTL_SECONDS)
    expiry_grace_seconds: int = field(default_factory=lambda: settings.SOLANA_EXPIRY_GRACE_SECONDS)

    first_check_seconds: int = field(default_factory=lambda: settings.FIRST_CHECK_SECONDS)
    backoff_factor: int = field(default_factory=lambda: settings.CHECK_BACKOFF_FACTOR)
    max_delay_seconds: int = field(default_factory=lambda: settings.MAX_CHECK_DELAY_SECONDS)
    fallback_providers: bool = True

    worker: Presence = field(default_factory=worker_presence)

    @classmethod
    def v1(cls, registry: Networks) -> Self:
        """Return the status of /v1, which builds on the enabled clusters."""
        return cls._of(registry, "v1", V1, (cluster.network for cluster in registry.enabled_clusters))

    @classmethod
    def v2(cls, registry: Networks) -> Self:
        """Return the status of /v2, which builds on the enabled EVM chains."""
        return cls._of(registry, "v2", V2, (chain.network for chain in registry.enabled))

    @classmethod
    def _of(cls, registry: Networks, version: str, presentation: Presentation, enabled: Iterable[str]) -> Self:
        """Return the status of these networks, each with the rail of its mode."""
        rails = {network: BY_MODE[registry.build_mode(network)] for network in enabled}
        chains = presentation.networks(registry, rails)
        for network, chain in zip(rails, chains, strict=True):
            metrics.NETWORK_AVAILABLE.labels(network).set(chain.is_available)
        return cls(version, presentation.hard_cap_bps, chains, registry.default_build_mode)

    @property
    def is_available(self) -> bool:
        """Whether sweeps can be built on any chain."""
        return any(chain.is_available for chain in self.chains)


@dataclass(frozen=True)
class OfferedOutputToken:
    """A token that sweeps on a cluster can end in."""

    cluster: Cluster
    token: OutputToken

    @property
    def is_native(self) -> bool:
        """Whether it is unwrapped to the cluster's own coin."""
        return self.token.mint == str(WRAPPED_SOL)


def output_tokens(mode: Mode) -> list[OfferedOutputToken]:
    """Return the tokens that sweeps of this mode can end in, in the order of the clusters file."""
    return [
        OfferedOutputToken(cluster, token)
        for cluster in networks.current().enabled_clusters
        if mode_of(cluster.network) == mode
        for token in cluster.output_tokens
    ]
