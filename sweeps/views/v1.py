"""The endpoints of /v1: sweeps on Solana, and all others whose partners are paid later."""

from sweeps.rails.registry import V1_RAILS
from sweeps.serializers.offchain_state import OffchainStateSerializer
from sweeps.views.stored import StoredSweepViewSet, documented

TAG = "Sweeps on Solana"


@documented(get="getSweepV1", listing="listSweepsV1", where="Solana or V4", tag=TAG, state=OffchainStateSerializer)
class SweepV1ViewSet(StoredSweepViewSet):
    rails = V1_RAILS
    state = OffchainStateSerializer
