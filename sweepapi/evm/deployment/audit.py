"""The complete comparison of a chain with its specification, history included."""

from dataclasses import dataclass

from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.differences import Difference
from sweepapi.evm.deployment.history import History, read_history
from sweepapi.evm.deployment.specification import Specification, deployed
from sweepapi.evm.errors import ChainUnavailableError, SpecificationError
from sweepapi.evm.rpc import ProviderPool


@dataclass(frozen=True)
class Audit:
    """What was found, and the scheduled admin operations in words, which are not differences yet."""

    differences: tuple[Difference, ...]
    scheduled: tuple[str, ...]


def audit(*, specification: Specification, pool: ProviderPool) -> Audit:
    """Compare everything, including the access manager's logs.

    Raises ``SpecificationError`` if the chains file names no contracts, and ``ChainUnavailableError`` if the providers
    don't return everything and what they return does not differ.
    """
    at, from_block = deployed(specification.chain), specification.chain.deployed_at_block
    if at is None or from_block is None:
        raise SpecificationError(f"chain {specification.chain.name!r} has no contracts")
    now = compare(specification=specification, at=at, pool=pool)
    try:
        past = read_history(
            specification=specification, at=at, pool=pool, from_block=from_block, to_block=now.head.number
        )
    except ChainUnavailableError as error:
        if not now.differences:
            raise
        past = History((Difference("logs of the access manager", "all", str(error)),), ())
    return Audit((*now.differences, *past.differences), past.scheduled)
