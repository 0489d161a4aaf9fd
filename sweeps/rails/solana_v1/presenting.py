"""Presents sweeps on Solana."""

from collections.abc import Iterable, Iterator

from sweeps.models import Sweep
from sweeps.rails.solana_v1.availability import cluster_statuses
from sweeps.rails.solana_v1.evidence import evidence
from sweeps.rails.solana_v1.models import BuiltTransaction
from sweeps.rails.solana_v1.serializers.answer import SolanaBuiltSerializer
from sweeps.rails.solana_v1.serializers.discovery import DiscoverySerializer
from sweeps.rails.solana_v1.serializers.status import ClusterSerializer
from sweeps.serializers.offchain_state import OffchainStateSerializer
from sweeps.shown import offchain

# No program enforces these; partners get the same limits as on EVM chains.
HARD_CAP_BPS = 300
MAX_TOKENS = 30


class SolanaPresentation:
    """The shapes of V1."""

    answer = SolanaBuiltSerializer
    discovery = DiscoverySerializer
    state = OffchainStateSerializer
    status_object = staticmethod(offchain.status_object)
    evidence = staticmethod(evidence)
    network = ClusterSerializer
    networks = staticmethod(cluster_statuses)
    hard_cap_bps = HARD_CAP_BPS
    max_tokens = MAX_TOKENS

    def obstacles(self, _sweep: Sweep) -> Iterable[str]:
        """Return nothing: sweeps on Solana can't be cancelled on chain."""
        return ()

    def admin_facts(self, sweep: Sweep) -> Iterator[tuple[str, str]]:
        """Yield of each transaction its reference key, its expiry, its fee account and its programs."""
        for built in BuiltTransaction.objects.filter(execution__sweep=sweep).select_related("execution"):
            label = f"Transaction {built.execution.position + 1}"
            yield f"{label}: reference", built.execution.execution_id
            yield f"{label}: last valid block height", str(built.last_valid_block_height)
            yield f"{label}: awaited until block height", str(built.awaited_until_height)
            yield f"{label}: fee account", built.fee_account
            yield f"{label}: programs", ", ".join(dict.fromkeys(one["program"] for one in built.instructions))
