"""The whole comparison of a chain with its specification, present and past."""

from dataclasses import dataclass

from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.differences import Difference
from sweepapi.evm.deployment.history import Remains, remains
from sweepapi.evm.deployment.specification import Specification, deployed
from sweepapi.evm.errors import ChainUnavailableError, SpecificationError
from sweepapi.evm.rpc import ProviderPool


@dataclass(frozen=True)
class Audit:
    """What was found, and in words the admin operations that wait for their time, which are no differences yet."""

    differences: tuple[Difference, ...]
    scheduled: tuple[str, ...]


def audit(*, specification: Specification, pool: ProviderPool) -> Audit:
    """Compare everything, the access manager's logs included.

    Raises ``SpecificationError`` if the chains file names no contracts; ``ChainUnavailableError`` if the providers
    don't tell all, and what they tell does not differ.
    """
    at, from_block = deployed(specification.chain), specification.chain.deployed_at_block
    if at is None or from_block is None:
        raise SpecificationError(f"chain {specification.chain.name!r} has no contracts")
    now = compare(specification=specification, at=at, pool=pool)
    try:
        past = remains(specification=specification, at=at, pool=pool, from_block=from_block, to_block=now.head.number)
    except ChainUnavailableError as error:
        if not now.differences:
            raise
        past = Remains((Difference("logs of the access manager", "all", str(error)),), ())
    return Audit((*now.differences, *past.differences), past.scheduled)
