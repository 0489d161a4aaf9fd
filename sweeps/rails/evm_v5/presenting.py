"""How V5 sweeps are shown: to partners in the shapes of all EVM rails, to operations with what only V5 knows."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.options import InlineModelAdmin

from sweepapi.evm.v5 import HARD_CAP_BPS
from sweeps.models import Sweep
from sweeps.rails.evm.answer import BuiltSerializer
from sweeps.rails.evm.state import EvmStateSerializer
from sweeps.rails.evm.status import ChainSerializer, chain_statuses
from sweeps.rails.evm_v5.admin_inlines import AuthorizationInline, CancellationInline


class V5Presentation:
    """The shapes of the V5 rail."""

    answer = BuiltSerializer
    state = EvmStateSerializer
    network = ChainSerializer
    hard_cap_bps = HARD_CAP_BPS
    networks = staticmethod(chain_statuses)

    def admin_inlines(self, sweep: Sweep) -> Sequence[type[InlineModelAdmin[Any, Any]]]:
        """Leave the cancellation out where none was requested: it would be a form of dashes."""
        if sweep.cancellation_requested_at is None:
            return [AuthorizationInline]
        return [AuthorizationInline, CancellationInline]
