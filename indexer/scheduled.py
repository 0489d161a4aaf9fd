"""Watches what is scheduled on the contracts' managers: a change that no one announced has to wake someone at once."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import time

import structlog
from django.conf import settings

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.history import ScheduleWatch
from sweepapi.evm.deployment.scheduled import ScheduledCall, ScheduledOperation, announced_calls
from sweepapi.monitoring import metrics
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps import processes

log = structlog.get_logger(__name__)


@dataclass
class ScheduleWatches:
    """A watch for each provider of each chain, and what was reported."""

    _watches: dict[tuple[str, int], ScheduleWatch] = field(default_factory=dict)
    _reported: set[ScheduledOperation] = field(default_factory=set)

    def round(self) -> None:
        """Read all chains; one that does not answer keeps its figures, whose time says how old they are."""
        registry = networks.current()
        for chain in registry.enabled:
            shown = list(self._shown(chain, registry.pool(chain.network)))
            if shown:
                self._report(chain, set().union(*shown))
            else:
                log.warning("schedule_unknown", network=chain.network)

    def _shown(self, chain: Chain, pool: ProviderPool) -> Iterator[set[ScheduledOperation]]:
        """Yield what each provider that answers shows: each is asked by itself, so that none can hide anything."""
        for position, provider in enumerate(pool.providers):
            alone = replace(pool, providers=[provider])
            watch = self._watches.setdefault((chain.network, position), ScheduleWatch(chain, alone))
            with suppress(ChainUnavailableError):
                yield set(watch.read())

    def _report(self, chain: Chain, scheduled: set[ScheduledOperation]) -> None:
        announced = _announced(chain)
        surprises = {operation for operation in scheduled if operation.call not in announced}
        for operation in surprises - self._reported:
            log.error("operation_not_announced", network=chain.network, operation=str(operation))
        self._reported |= surprises
        processes.notes[processes.SCHEDULED][chain.network] = [
            (operation.call.meaning, operation not in surprises) for operation in sorted(scheduled, key=str)
        ]
        metrics.SCHEDULED.labels(chain.network, "no").set(len(surprises))
        metrics.SCHEDULED.labels(chain.network, "yes").set(len(scheduled) - len(surprises))
        metrics.SCHEDULED_READ.labels(chain.network).set(time())


def _announced(chain: Chain) -> frozenset[ScheduledCall]:
    """Return what was announced: nothing, if the file can't be trusted, so that it keeps no alert from anyone."""
    try:
        return announced_calls(settings.CHANGES_FILE, chain)
    except SpecificationError as error:
        log.error("announced_changes_refused", network=chain.network, error=str(error))  # noqa: TRY400 it says it all
        return frozenset()
