"""Which rails there are: the only module outside the rails that names them."""

from sweeps.models import Flag
from sweeps.rails.evm_v5.rail import EvmV5
from sweeps.rails.rail import Rail

RAILS: dict[str, Rail] = {rail.name: rail for rail in (EvmV5(),)}
# By the name that SERVICE_EVM_BUILD_MODE and the API give them. The rollback path is known and not offered yet.
BY_MODE: dict[str, Rail | None] = {rail.mode: rail for rail in RAILS.values()} | {"v4_fallback": None}
# All rails of /v2 answer in these shapes.
V2 = RAILS[EvmV5.name].present
FLAGS: tuple[str, ...] = (*Flag.values, *(flag for rail in RAILS.values() for flag in rail.present.flags))
