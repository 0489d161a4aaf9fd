"""The full comparison of a chain with its specification: its state, and the access manager's history."""

from dataclasses import dataclass

from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.differences import DeploymentDifference
from sweepapi.evm.deployment.history import Findings, find_unspecified
from sweepapi.evm.deployment.scheduled import ScheduledOperation
from sweepapi.evm.deployment.specification import Specification, deployed
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError


@dataclass(frozen=True)
class Audit:
    """The differences, and the operations that will make one once their delay is over."""

    differences: tuple[DeploymentDifference, ...]
    scheduled: tuple[ScheduledOperation, ...]


def audit(*, specification: Specification, pool: ProviderPool) -> Audit:
    """Compare the chain's state and the access manager's logs with the specification.

    Raises ``SpecificationError`` if the chains file has no contracts for the chain, and ``ChainUnavailableError`` if
    the state matches but the providers do not return all logs.
    """
    at, from_block = deployed(specification.chain), specification.chain.deployed_at_block
    if at is None or from_block is None:
        raise SpecificationError(f"chain {specification.chain.name!r} has no contracts")
    state = compare(specification=specification, at=at, pool=pool)
    try:
        history = find_unspecified(
            specification=specification, at=at, pool=pool, from_block=from_block, to_block=state.head.number
        )
    except ChainUnavailableError as error:
        if not state.differences:
            raise
        history = Findings((DeploymentDifference("logs of the access manager", "all", str(error)),), ())
    return Audit((*state.differences, *history.differences), history.scheduled)
