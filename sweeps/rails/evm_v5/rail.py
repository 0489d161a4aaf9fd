"""The V5 rail, as the rest of the service sees it."""

from sweepapi.evm.contracts.v5 import CANCELLED_TOPIC, ENTRY_POINTS, EXECUTED_TOPIC, decode_cancelled, decode_executed
from sweepapi.evm.deployment.specification import V5
from sweepapi.evm.encoding.responses import Log
from sweeps.rails.evm.base import EvmBase
from sweeps.rails.evm.follow.emitted import Emitted, facts
from sweeps.rails.evm_v5 import cancelling, issuing, stored, storing
from sweeps.rails.evm_v5.presenting import V5Presentation
from sweeps.rails.evm_v5.terms import V5Terms, outcome_of


class EvmV5(EvmBase):
    """Sweeps through ``ServiceBatchV5PartnerFees``."""

    name = "evm_v5"
    mode = "v5_partner_fees"
    contract_version = "v5"
    contract_name = V5
    event_topics = (EXECUTED_TOPIC, CANCELLED_TOPIC)
    entry_points = ENTRY_POINTS
    present = V5Presentation()

    plan = staticmethod(issuing.plan_v5)
    discover = staticmethod(issuing.discover_v5)
    issue = staticmethod(issuing.issue)
    store = staticmethod(storing.store)
    witness_of = staticmethod(stored.witness_of)
    arguments_of = staticmethod(stored.arguments_of)
    gross_output = staticmethod(issuing.gross_output)
    terms = staticmethod(V5Terms.of)
    withdraw = staticmethod(cancelling.request)
    send_withdrawals = staticmethod(cancelling.send_requested)

    def execution_id(self, topic: str) -> str:
        return str(int(topic, 16))

    def named_sweep(self, _execution_id: str) -> None:
        """Return None: a nonce does not name a sweep."""

    def emitted(self, log: Log) -> Emitted | None:
        executed = decode_executed(log)
        if executed is not None:
            return Emitted("SweepExecutedV5", str(executed.nonce), executed.user, facts(executed), outcome_of(executed))
        cancelled = decode_cancelled(log)
        if cancelled is not None:
            return Emitted("AuthorizationCancelled", str(cancelled.nonce), None, facts(cancelled))
        return None

    def authorization_nonce(self, execution_id: str) -> str | None:
        """Return the nonce as partners see it; other contract versions have none."""
        return execution_id
