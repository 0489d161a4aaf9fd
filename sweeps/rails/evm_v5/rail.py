"""The V5 rail, as the rest of the service sees it."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import prefetch_related_objects

from sweepapi.evm.deployment.specification import V5
from sweepapi.evm.responses import Log
from sweepapi.evm.v5 import EXECUTED_TOPIC, decode_executed
from sweeps.models import Execution, Sweep
from sweeps.rails.evm import following, judging, reconciling, reverts
from sweeps.rails.evm.following import Seen
from sweeps.rails.evm.watching import Watched
from sweeps.rails.evm_v5 import cancelling, sealing
from sweeps.rails.evm_v5.presenting import V5Presentation
from sweeps.rails.evm_v5.terms import V5Terms


class EvmV5:
    """Sweeps through ``ServiceBatchV5PartnerFees``."""

    name = "evm_v5"
    mode = "v5_partner_fees"
    contract_version = "v5"
    contract_name = V5
    executed_topic = EXECUTED_TOPIC
    present = V5Presentation()

    def watch(self, sweeps: Sequence[Sweep]) -> list[Watched]:
        prefetch_related_objects(list(sweeps), "partner", "tokens", "executions__transactions")
        executions = [(sweep, sweep.executions.all()[0]) for sweep in sweeps]
        return [Watched.of(sweep, execution, V5Terms.of(sweep, execution)) for sweep, execution in executions]

    def executed_id(self, log: Log) -> str | None:
        event = decode_executed(log)
        return None if event is None else str(event.nonce)

    def find_executed(self, network: str) -> Iterator[tuple[UUID, Seen]]:
        return reconciling.find_executed(self, network)

    def authorization_nonce(self, execution: Execution) -> str | None:
        """Return the nonce as partners see it; other contract versions have none."""
        return execution.execution_id

    draft = staticmethod(sealing.draft_v5)
    seal = staticmethod(sealing.seal)
    store = staticmethod(sealing.store)
    see = staticmethod(following.see)
    judge = staticmethod(judging.judge)
    next_look = staticmethod(following.next_look)
    clock = staticmethod(following.clock)
    explain_revert = staticmethod(reverts.explain)
    withdraw = staticmethod(cancelling.request)
    send_withdrawals = staticmethod(cancelling.send_requested)
