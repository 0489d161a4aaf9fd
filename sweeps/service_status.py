"""The public status of the service: what it offers, within which limits, and what works at the moment."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings

from sweepapi import networks
from sweepapi.fees import BPS_DENOMINATOR
from sweeps.models.sweep import MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS
from sweeps.rails.rail import NetworkStatus
from sweeps.rails.registry import BY_MODE, V2


def _network_statuses() -> Sequence[NetworkStatus]:
    """Return the status of every enabled network, each with the rail of its mode."""
    registry = networks.current()
    return V2.networks({chain.network: BY_MODE[registry.build_mode(chain.network)] for chain in registry.enabled})


@dataclass(frozen=True)
class ServiceStatus:
    """The status of /v2, measured in bounded time."""

    version: str = "v2"
    default_build_mode: str = field(default_factory=lambda: networks.current().default_build_mode)
    chains: Sequence[NetworkStatus] = field(default_factory=_network_statuses)

    total_fee_bps: int = field(default_factory=lambda: settings.TOTAL_FEE_BPS)
    bps_denominator: int = BPS_DENOMINATOR
    hard_cap_bps: int = V2.hard_cap_bps

    max_tokens: int = field(default_factory=lambda: settings.MAX_TOKENS)
    min_slippage_bps: int = MIN_SLIPPAGE_BPS
    max_slippage_bps: int = MAX_SLIPPAGE_BPS
    authorization_ttl_seconds: int = field(default_factory=lambda: settings.AUTHORIZATION_TTL_SECONDS)

    first_check_seconds: int = field(default_factory=lambda: settings.FIRST_CHECK_SECONDS)
    backoff_factor: int = field(default_factory=lambda: settings.CHECK_BACKOFF_FACTOR)
    max_delay_seconds: int = field(default_factory=lambda: settings.MAX_CHECK_DELAY_SECONDS)
    fallback_providers: bool = True

    @property
    def is_available(self) -> bool:
        """Whether sweeps can be built on any chain."""
        return any(chain.is_available for chain in self.chains)
