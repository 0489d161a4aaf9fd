"""What the rails of all contract versions have in common: they follow, decide about and show sweeps in the same way."""

from collections.abc import Iterator, Sequence

from sweepapi.evm.contracts.batch import HARD_CAP_BPS, MAX_LEGS
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.protocol.rail import FinalSpan
from sweeps.rails.evm import snapshots
from sweeps.rails.evm.availability import chain_statuses
from sweeps.rails.evm.finalize import finalizing
from sweeps.rails.evm.finalize.finalizing import FinalizedSweep, Signed
from sweeps.rails.evm.follow import deciding, following, reverts
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.reconcile import reconciling
from sweeps.rails.evm.reconcile.rereading import ContractPlace
from sweeps.rails.evm.serializers.answer import BuiltSerializer, QuotedSerializer, RefreshedSerializer
from sweeps.rails.evm.serializers.discovery import EvmDiscoverySerializer
from sweeps.rails.evm.serializers.finalize import FinalizedSweepSerializer, FinalizeRequestSerializer, signed_of
from sweeps.rails.evm.serializers.state import EvmStateSerializer
from sweeps.rails.evm.serializers.status import ChainSerializer
from sweeps.store.stored import StoredSweep


class EvmBase:
    """The part of an ``EvmRail`` that does not depend on the contract version."""

    read = staticmethod(following.read)
    decide = staticmethod(deciding.decide)
    next_check = staticmethod(following.next_check)
    clock = staticmethod(following.clock)
    explain_revert = staticmethod(reverts.explain)

    def follow(self: EvmRail, sweeps: Sequence[StoredSweep]) -> list[FollowedEvmSweep]:
        return [FollowedEvmSweep.of(stored, self.terms(stored)) for stored in sweeps]

    def finalize(self: EvmRail, registry: Networks, sweep: Sweep, signed: Signed) -> FinalizedSweep:
        return finalizing.finalize(self, registry, sweep, signed)

    def find_executed(self: EvmRail, registry: Networks, network: str, venue: str) -> Iterator[FinalSpan]:
        return reconciling.find_executed(registry, ContractPlace(self, network, venue))


class EvmPresentation:
    """The shapes that all contract versions answer in."""

    quote = QuotedSerializer
    answer = BuiltSerializer
    discovery = EvmDiscoverySerializer
    refreshed = RefreshedSerializer
    finalize_request = FinalizeRequestSerializer
    signed = staticmethod(signed_of)
    finalized = FinalizedSweepSerializer
    state = EvmStateSerializer
    status_object = staticmethod(snapshots.status_object)
    network = ChainSerializer
    hard_cap_bps = HARD_CAP_BPS
    max_tokens = MAX_LEGS
    networks = staticmethod(chain_statuses)
