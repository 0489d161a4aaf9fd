"""Watches what is scheduled on the contracts' managers: a change that no one announced has to wake someone at once."""

from dataclasses import dataclass, field
from time import time

import structlog
from django.conf import settings

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.deployment.history import ScheduleWatch
from sweepapi.evm.deployment.scheduled import ScheduledOperation, announced_calls
from sweepapi.monitoring import metrics
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps import processes

log = structlog.get_logger(__name__)


@dataclass
class ScheduleWatches:
    """The watch of each chain, and what was reported."""

    _watches: dict[str, ScheduleWatch] = field(default_factory=dict)
    _reported: set[ScheduledOperation] = field(default_factory=set)

    def round(self) -> None:
        """Read all chains; one that does not answer keeps its figures, whose time says how old they are."""
        registry = networks.current()
        for chain in registry.enabled:
            watch = self._watches.setdefault(chain.network, ScheduleWatch(chain, registry.pool(chain.network)))
            try:
                scheduled = watch.read()
            except ChainUnavailableError:
                log.warning("schedule_unknown", network=chain.network)
            else:
                self._report(chain, scheduled)

    def _report(self, chain: Chain, scheduled: list[ScheduledOperation]) -> None:
        announced = announced_calls(settings.CHANGES_FILE, chain)
        surprises = {operation for operation in scheduled if operation.call not in announced}
        for operation in surprises - self._reported:
            log.error("operation_not_announced", network=chain.network, operation=str(operation))
        self._reported |= surprises
        processes.notes[processes.SCHEDULED][chain.network] = [
            f"{operation.call.meaning}, {'not announced' if operation in surprises else 'announced'}"
            for operation in scheduled
        ]
        metrics.SCHEDULED.labels(chain.network, "no").set(len(surprises))
        metrics.SCHEDULED.labels(chain.network, "yes").set(len(scheduled) - len(surprises))
        metrics.SCHEDULED_READ.labels(chain.network).set(time())
