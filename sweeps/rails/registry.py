"""The registry of all rails: the only module outside the rails that names them."""

from sweepapi import networks
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm_v5.rail import EvmV5
from sweeps.rails.rail import Presentation, Rail

_V5: EvmRail = EvmV5()

RAILS: dict[str, Rail] = {rail.name: rail for rail in (_V5,)}
FALLBACK = "v4_fallback"
# By their names in SERVICE_EVM_BUILD_MODE and in the API. This release answers the fallback with build_disabled.
BY_MODE: dict[str, Rail | None] = {_V5.mode: _V5, FALLBACK: None}
# The rails whose sweeps /v2 shows; all of them answer in the same shapes.
V2_RAILS = (_V5.name,)
V2: Presentation = _V5.present


def rail_for(network: str) -> Rail | None:
    """Return the rail that builds new sweeps on a network; None if this release has no rail for the network's mode."""
    return BY_MODE[networks.current().build_mode(network)]
