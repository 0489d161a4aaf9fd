"""Compares a chain's state with its specification in one round trip: the code, the values and the permissions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import multicall
from sweepapi.evm.deployment.code import code_differences
from sweepapi.evm.deployment.differences import Check, DeploymentDifference
from sweepapi.evm.deployment.permissions import permissions
from sweepapi.evm.deployment.specification import BATCHES, CONTRACTS, Addresses, Specification
from sweepapi.evm.deployment.values import values
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError

# All views together use a tenth of this; it bounds what another contract at one of the addresses can burn or return.
GAS_LIMIT = 10_000_000
# One eth_call for each value of ``Check.contract``, so that what is at one contract's address can't fail other reads.
SCOPES = (None, *BATCHES)


@dataclass(frozen=True)
class DeploymentComparison:
    """The differences at a chain's head."""

    head: Block
    differences: tuple[DeploymentDifference, ...]


def checks(specification: Specification, at: Addresses) -> list[Check]:
    """Return all checks except those of the code, in the order in which a deployment applies their remedies.

    Values come first: until a function is assigned to a role, the admin may call it.
    """
    return [*values(specification, at), *permissions(specification, at)]


def compare(
    *, specification: Specification, at: Addresses, pool: ProviderPool, timeout_seconds: float | None = None
) -> DeploymentComparison:
    """Return how the chain differs from the specification, in one round trip; raises ``ChainUnavailableError``."""
    listed = checks(specification, at)
    calls = [
        head_call(),
        *(code_call(at.of(name)) for name in CONTRACTS),
        *(_reads([check for check in listed if check.contract == scope], specification.chain) for scope in SCOPES),
    ]
    _, (head, *rest) = pool.ask(calls, timeout_seconds=timeout_seconds)
    codes = dict(zip(CONTRACTS, rest, strict=False))
    found: list[DeploymentDifference] = []
    for name, on_chain in codes.items():
        scope = name if name in BATCHES else None
        found += _marked(scope, code_differences(name, on_chain, specification.chain, at))
    codeless = {at.of(name) for name, on_chain in codes.items() if not on_chain}
    answers = dict(zip(SCOPES, map(_answers, rest[len(CONTRACTS) :]), strict=True))
    for check in listed:
        answer = next(answers[check.contract])
        if check.read.target not in codeless:  # reported as missing code
            found += _marked(check.contract, check.compare(answer, head.timestamp))
    return DeploymentComparison(head, tuple(found))


def _reads(group: Sequence[Check], chain: Chain) -> Call:
    reads = [check.read for check in group]
    return multicall(multicall3=chain.multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION, gas=GAS_LIMIT)


def _answers(result: list[Any] | CallFailedError) -> Iterator[Any]:
    return repeat(None) if isinstance(result, CallFailedError) else iter(result)


def _marked(scope: str | None, differences: Iterable[DeploymentDifference]) -> list[DeploymentDifference]:
    return [replace(difference, contract=scope) for difference in differences]


def code_call(address: str) -> Call:
    return Call("eth_getCode", (address, "latest"), responses.data)
