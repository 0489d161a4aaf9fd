"""Discovers which tokens of a wallet on an EVM chain are worth sweeping, by the rail that builds there."""

from typing import Any

from partners.models import Partner
from sweepapi.networks import Networks
from sweeps.protocol.request import DiscoverRequest
from sweeps.rails.registry import EVM_BY_MODE


def discover_tokens(registry: Networks, *, partner: Partner, request: DiscoverRequest) -> Any:  # noqa: ANN401 - the rails' own Discovery
    """Return what the wallet's tokens would bring in a sweep now; raises what a build raises for the output."""
    rail = EVM_BY_MODE[registry.build_mode(request.network)]
    return rail.discover(registry=registry, partner=partner, request=request)
