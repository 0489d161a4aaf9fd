"""The registry of all rails: the only module outside the rails that names them."""

from sweeps.books.auditor import Auditor
from sweeps.protocol.rail import Rail
from sweeps.rails.evm.follow import block_reading
from sweeps.rails.evm.rail import EvmRail, EvmShapes
from sweeps.rails.evm.reconcile.auditing import EvmAuditor
from sweeps.rails.evm.reconcile.log_following import LogFollower
from sweeps.rails.evm_v4.rail import EvmV4
from sweeps.rails.evm_v5.rail import EvmV5
from sweeps.rails.solana_v1.auditing import SolanaAuditor
from sweeps.rails.solana_v1.rail import SolanaV1

_EVM: tuple[EvmRail, ...] = (EvmV5(), EvmV4())
SOLANA = SolanaV1()
_ALL: tuple[Rail, ...] = (*_EVM, SOLANA)

RAILS: dict[str, Rail] = {rail.name: rail for rail in _ALL}
# By their names in SERVICE_EVM_BUILD_MODE and in the API.
BY_MODE: dict[str, Rail] = {rail.mode: rail for rail in _ALL}
EVM_BY_MODE: dict[str, EvmRail] = {rail.mode: rail for rail in _EVM}
EVM_RAILS: dict[str, EvmRail] = {rail.name: rail for rail in _EVM}
LOG_FOLLOWER = LogFollower(EVM_RAILS)
read_blocks = block_reading.read  # only sweeps on EVM chains await the finality of their blocks
EVM_AUDITOR = EvmAuditor(EVM_RAILS)
# By the namespaces of their networks.
_AUDITORS: dict[str, Auditor] = {"eip155": EVM_AUDITOR, "solana": SolanaAuditor()}
V2_MODES = tuple(EVM_BY_MODE)
FALLBACK = EvmV4.mode
# The rails whose sweeps /v2 shows; all of them answer in the same shapes.
V2_RAILS = tuple(EVM_RAILS)
V2: EvmShapes = _EVM[0].present
# The rails whose sweeps /v1 shows: those whose partners are paid later.
V1_RAILS = (SolanaV1.name, EvmV4.name)
V1 = SOLANA.present


def auditor_of(network: str) -> Auditor:
    """Return what compares the books of a network."""
    return _AUDITORS[network.partition(":")[0]]
