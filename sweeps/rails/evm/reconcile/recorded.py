"""Finds the executions that are cancelled in our books only, which no event can show."""

from collections.abc import Collection, Iterator

from sweepapi.evm.chain.multicall import multicall
from sweepapi.networks import Networks
from sweeps.books.comparison import BooksDifference, BooksProblem
from sweeps.books.entries import oldest_id
from sweeps.models import Execution
from sweeps.rails.evm.reconcile.rereading import ContractPlace
from sweeps.store.reading import read

MAX_READ = 100  # of cancelled executions, in one call


def unused_cancelled(
    registry: Networks, place: ContractPlace, since: int, seen: Collection[str]
) -> Iterator[BooksDifference]:
    """Yield the executions since a time that are cancelled in our books only, apart from those whose event was seen.

    Every provider that answers has to show their identity as unused; raises ``ChainUnavailableError`` if none does.
    """
    cancelled = Execution.objects.filter(
        id__gte=oldest_id(since), network=place.network, venue=place.contract, status=Execution.Status.CANCELLED
    ).exclude(execution_id__in=seen)
    executions = list(cancelled)
    for start in range(0, len(executions), MAX_READ):
        batch = executions[start : start + MAX_READ]
        for execution, is_unused in zip(batch, _are_unused(registry, place, batch), strict=True):
            if is_unused:
                yield BooksDifference(
                    problem=BooksProblem.EVENT_MISSING,
                    message="Cancelled in our books, and it can still be executed on chain.",
                    venue=place.contract,
                    execution_id=execution.execution_id,
                    sweep_id=execution.sweep_id,
                )


def _are_unused(registry: Networks, place: ContractPlace, executions: Collection[Execution]) -> list[bool]:
    sweeps = read([one.sweep_id for one in executions])
    reads = [place.rail.terms(sweeps[one.sweep_id]).is_used(place.contract) for one in executions]
    call = multicall(multicall3=registry.chain(place.network).multicall3, reads=reads, require_all=True)
    answers = [results for (results,) in registry.pool(place.network).ask_all([call])]
    return [all(used == (False,) for used in shown) for shown in zip(*answers, strict=True)]
