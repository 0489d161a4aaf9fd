"""The V4 rail, as the rest of the service sees it."""

from uuid import UUID

from sweepapi.errors import SweepNotCancellable
from sweepapi.evm.contracts.v4 import ENTRY_POINTS, EXECUTED_TOPIC, decode_executed
from sweepapi.evm.deployment.specification import V4
from sweepapi.evm.encoding.responses import Log
from sweepapi.networks import Networks
from sweeps.rails.evm.base import EvmBase
from sweeps.rails.evm.build import storing
from sweeps.rails.evm.follow.emitted import Emitted, EmittedOutcome, facts
from sweeps.rails.evm_v4 import issuing, stored
from sweeps.rails.evm_v4.presenting import V4Presentation
from sweeps.rails.evm_v4.terms import V4Terms, sweep_id_of
from sweeps.store.stored import StoredSweep


class EvmV4(EvmBase):
    """Sweeps through ``ServiceBatchV4``."""

    name = "evm_v4"
    mode = "v4_fallback"
    contract_version = "v4"
    contract_name = V4
    event_topics = (EXECUTED_TOPIC,)
    entry_points = ENTRY_POINTS
    present = V4Presentation()

    plan = staticmethod(issuing.plan_v4)
    discover = staticmethod(issuing.discover_v4)
    issue = staticmethod(issuing.issue)
    store = staticmethod(storing.store)
    witness_of = staticmethod(stored.witness_of)
    arguments_of = staticmethod(stored.arguments_of)
    gross_output = staticmethod(issuing.gross_output)
    terms = staticmethod(V4Terms.of)

    def execution_id(self, topic: str) -> str:
        return topic

    def named_sweep(self, execution_id: str) -> UUID | None:
        return sweep_id_of(execution_id)

    def emitted(self, log: Log) -> Emitted | None:
        event = decode_executed(log)
        if event is None:
            return None
        outcome = EmittedOutcome(event.output_token, event.gross_output, event.fee, event.user_amount, parties=None)
        return Emitted("SweepExecutedV4", event.sweep_ref, event.user, facts(event), outcome)

    def authorization_nonce(self, _execution_id: str) -> None:
        """V4 has no fee authorization."""

    def withdraw(self, _stored: StoredSweep) -> None:
        """Refuse: only the user can cancel."""
        raise SweepNotCancellable(
            "A V4 sweep can't be cancelled on chain, because the service signs nothing for it: only the user can, by "
            "invalidating the permit's nonce at Permit2. Otherwise what the user signed expires at the deadline."
        )

    def send_withdrawals(self, _registry: Networks) -> None:
        """There is nothing to send."""
